/**
 * The command line: options and properties files become a {@code MirrorConfig}; progress, logs and failures become
 * lines that the user reads. <b>Internal, not API.</b>
 *
 * <p>It uses the mirror. Only {@code Main} knows the demo, because it lists the commands. The demo uses what is public
 * here: the options of a mirror, the terminal, the log.
 */
package dev.millrace.mirror.cli;
