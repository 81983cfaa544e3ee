/** Tables of text. */
package dev.millrace.command;
