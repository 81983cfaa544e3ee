/**
 * <b>Internal, not API.</b> Formats the sentences, numbers and JSON that the mirror prints. It depends on no other
 * room. Enters: failures and figures. Leaves: one line each.
 */
package dev.millrace.mirror.text;
