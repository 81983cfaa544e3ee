/** The mirror tool: N consumer threads that feed one shared producer. */
package dev.millrace.mirror;
