/**
 * The command line: options and properties files become a {@code MirrorConfig}; progress, logs and failures become
 * lines that the user reads. <b>Internal, not API.</b>
 *
 * <p>It uses the mirror. It does not know the demo, which adds its command as a service ({@code AddedCommand}) and uses
 * what is public here: the options of a mirror, the terminal, the log.
 */
package dev.millrace.mirror.cli;
