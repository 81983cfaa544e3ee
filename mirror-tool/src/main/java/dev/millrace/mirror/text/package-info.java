/**
 * <b>Internal, not API.</b> Sentences, numbers and JSON for those who read what the mirror says. It knows no other
 * room. Enters: failures and figures. Leaves: one line each.
 */
package dev.millrace.mirror.text;
