package dev.millrace.mirror.cli;

import java.util.concurrent.Callable;

/** A command that {@code mirror} offers if a service of this type is on the class path, as the demo is. */
public interface AddedCommand extends Callable<Integer> {}
