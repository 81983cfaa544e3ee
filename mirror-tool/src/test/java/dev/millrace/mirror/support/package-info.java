/** What tests of the mirror share: clusters, records, a consumer to script, and the tool in a process of its own. */
package dev.millrace.mirror.support;
