package dev.millrace.client.it.transactions;

/** Transactions with older clusters: the producer adds partitions and groups before it writes to them. */
class TransactionsVersion1IT extends TransactionsContract {
    TransactionsVersion1IT() {
        super(1);
    }
}
