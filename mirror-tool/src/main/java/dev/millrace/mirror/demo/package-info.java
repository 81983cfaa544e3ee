/**
 * {@code mirror demo}: starts two clusters, runs each mirror several times in a process of its own, checks what it
 * wrote, and shows the figures as a table or as curves. <b>Internal, not API.</b>
 *
 * <p>It uses the mirror and its command line. Only this package may use the test kit, which starts the clusters and
 * which the published artifact lacks.
 */
package dev.millrace.mirror.demo;
