"""From clauses to steps on the plan: which task and slot words mean, and what each clause does."""
