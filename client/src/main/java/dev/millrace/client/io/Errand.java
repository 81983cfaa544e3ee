package dev.millrace.client.io;

/** Something that the first I/O thread does beside sending: it asks the cluster for what all of them need. */
interface Errand {
    /** Asks if there is a reason to; returns after how many milliseconds to call again. */
    long runIfDue(long nowMs);
}
