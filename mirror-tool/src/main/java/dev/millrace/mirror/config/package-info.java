/**
 * <b>Internal, not API.</b> Holds the user's checked choices: clusters, topics and their names, modes and policies.
 * Enters: the command line's values. Leaves: a {@code MirrorConfig}, and the client configurations derived from it.
 */
package dev.millrace.mirror.config;
