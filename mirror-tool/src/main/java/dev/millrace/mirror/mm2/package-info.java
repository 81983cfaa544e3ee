/**
 * <b>Internal, not API.</b> Takes over from MirrorMaker 2. Enters: the internal topics that MirrorMaker 2 has written.
 * Leaves: the first commit of a mirror's group.
 */
package dev.millrace.mirror.mm2;
