/**
 * <em>Internal.</em> What a mirror shows over HTTP. It reads {@link dev.millrace.mirror.MirrorStatus} and changes
 * nothing; the mirror does not know of it.
 */
package dev.millrace.mirror.http;
