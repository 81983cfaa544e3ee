package dev.millrace.client.it.transactions;

/**
 * Transactions with new clusters: a write adds its partition, and every end of a transaction gives a new epoch
 * (KIP-890).
 */
class TransactionsIT extends TransactionsContract {
    TransactionsIT() {
        super(2);
    }
}
