/**
 * <b>Internal, not API.</b> Takes over from MirrorMaker 2, and writes its topics for programs that read them. Enters:
 * the progress that MirrorMaker 2 has kept; where records and groups are at the target. Leaves: the first commit of a
 * mirror's group; checkpoints and offset syncs.
 */
package dev.millrace.mirror.mm2;
