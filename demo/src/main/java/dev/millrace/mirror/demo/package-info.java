/**
 * {@code mirror demo}: starts two clusters, runs each mirror several times in a process of its own, checks what it
 * wrote, and shows the figures as a table or as curves. <b>Internal, not API.</b>
 *
 * <p>It uses the mirror and its command line, which finds its command as a service ({@code AddedCommand}), and the test
 * kit, which starts the clusters. Neither it nor the test kit is published.
 */
package dev.millrace.mirror.demo;
