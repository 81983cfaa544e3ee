/**
 * <b>Internal, not API.</b> The command line. Enters: options and configuration files. Leaves: a {@code MirrorConfig},
 * and lines for the user about progress, warnings and failures.
 *
 * <p>It uses the mirror. It does not depend on the demo, which adds its command as a service ({@code AddedCommand}) and
 * uses the public classes here: the options of a mirror, the terminal, the log.
 */
package dev.millrace.mirror.cli;
