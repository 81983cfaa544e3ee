package dev.millrace.client.it.transactions;

/** Transactions as new clusters have them: writing adds partitions, every end gives a new epoch (KIP-890). */
class TransactionsIT extends TransactionsContract {
    TransactionsIT() {
        super(2);
    }
}
