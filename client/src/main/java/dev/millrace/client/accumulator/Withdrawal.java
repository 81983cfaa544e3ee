package dev.millrace.client.accumulator;

import java.util.concurrent.CompletableFuture;

/**
 * The application's request that nothing more of a partition be written.
 *
 * @param cause the cause with which its records fail unless they are written
 * @param done completes when nothing is in flight any more
 */
public record Withdrawal(RuntimeException cause, CompletableFuture<Void> done) {}
