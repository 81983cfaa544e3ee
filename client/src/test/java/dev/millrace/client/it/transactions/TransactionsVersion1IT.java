package dev.millrace.client.it.transactions;

/** Transactions as older clusters have them: partitions and groups are added before they are written to. */
class TransactionsVersion1IT extends TransactionsContract {
    TransactionsVersion1IT() {
        super(1);
    }
}
