/**
 * The mirror: consumer threads that feed one shared producer. <b>Internal, not API</b>: the tool's interface is its
 * command line.
 *
 * <p>{@code Mirror} runs a {@code SourceGroupMember} per consumer with the configurations in {@code MirrorConfig}, and tells
 * a {@code MirrorObserver} what it does. This package knows neither the command line nor the demo. Its messages name
 * the options that the user would change.
 */
package dev.millrace.mirror;
