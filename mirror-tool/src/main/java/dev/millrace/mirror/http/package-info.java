/**
 * <em>Internal.</em> What a mirror shows over HTTP. It reads {@link dev.millrace.mirror.status.MirrorStatus} and changes
 * {@link dev.millrace.mirror.control.TopicControls}, nothing else; the mirror does not know of it.
 */
package dev.millrace.mirror.http;
