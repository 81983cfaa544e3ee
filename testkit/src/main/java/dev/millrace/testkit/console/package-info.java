/** What a build prints of its tests. */
package dev.millrace.testkit.console;
