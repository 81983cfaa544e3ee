package dev.millrace.client.accumulator;

import java.util.concurrent.CompletableFuture;

/**
 * The application's wish that nothing more of a partition is written.
 *
 * @param cause with which its records fail, unless they are written
 * @param done completes when nothing is in flight any more
 */
public record Withdrawal(RuntimeException cause, CompletableFuture<Void> done) {}
