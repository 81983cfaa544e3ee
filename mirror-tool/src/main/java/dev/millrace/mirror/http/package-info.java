/**
 * <b>Internal, not API.</b> Shows a mirror over HTTP. Enters: requests. Leaves: pages, JSON and metrics. It reads
 * {@link dev.millrace.mirror.status.MirrorStatus} and changes {@link dev.millrace.mirror.control.TopicControls},
 * nothing else; the mirror does not depend on it.
 */
package dev.millrace.mirror.http;
