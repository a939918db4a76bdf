import { afterEach, beforeEach, describe } from 'vitest'
import { type Logger, silentLogger } from '../../src/core/logger.ts'
import type { Store } from '../../src/store/store.ts'
import { admissionContract } from './store/admissions.ts'
import { ageingContract } from './store/ageing.ts'
import { aliasContract } from './store/aliases.ts'
import { approvalContract } from './store/approvals.ts'
import { budgetContract } from './store/budgets.ts'
import { cardContract } from './store/cards.ts'
import { chatMoveContract } from './store/chat-moves.ts'
import { copyContract } from './store/copies.ts'
import { currentSessionContract } from './store/current-sessions.ts'
import { eventContract } from './store/events.ts'
import { forgettingContract } from './store/forgetting.ts'
import { inboxContract } from './store/inbox.ts'
import { memoryContract } from './store/memory.ts'
import { outboxContract } from './store/outbox.ts'
import { peopleContract } from './store/people.ts'
import { questionContract } from './store/questions.ts'
import { restorationContract } from './store/restorations.ts'
import { scheduleContract } from './store/schedules.ts'
import { sessionContract } from './store/sessions.ts'
import { smallContract } from './store/small.ts'
import { standingRuleContract } from './store/standing-rules.ts'
import { transactionContract } from './store/transactions.ts'
import { turnContract } from './store/turns.ts'
import type { ContractDatabase, StoreUnderTest } from './store/under-test.ts'

/** What every engine behind the store port must do. `make` gives each test an empty database. */
export function storeContract(name: string, make: () => Promise<ContractDatabase>): void {
  describe(`store contract: ${name}`, () => {
    let database: ContractDatabase
    let store: Store
    let warnings: { sentence: string; fields: Readonly<Record<string, unknown>> }[]
    const logger: Logger = {
      ...silentLogger,
      warn: (sentence, fields = {}) => void warnings.push({ sentence, fields }),
    }

    beforeEach(async () => {
      warnings = []
      database = await make()
      store = await database.open(logger)
    })
    afterEach(async () => {
      await store.close()
      await database.remove()
    })

    const underTest: StoreUnderTest = {
      get store() {
        return store
      },
      get warnings() {
        return warnings
      },
      async reopen(meanwhile?: string) {
        await store.close()
        if (meanwhile !== undefined) await database.execute(meanwhile)
        store = await database.open(logger)
        return store
      },
    }
    describe('transactions', () => transactionContract(underTest))
    describe('sessions', () => sessionContract(underTest))
    describe('current sessions', () => currentSessionContract(underTest))
    describe('aliases', () => aliasContract(underTest))
    describe('chat moves', () => chatMoveContract(underTest))
    describe('events', () => eventContract(underTest))
    describe('copied events', () => copyContract(underTest))
    describe('inbox', () => inboxContract(underTest))
    describe('turns', () => turnContract(underTest))
    describe('outbox', () => outboxContract(underTest))
    describe('restorations', () => restorationContract(underTest))
    describe('schedules', () => scheduleContract(underTest))
    describe('admissions', () => admissionContract(underTest))
    describe('approvals', () => approvalContract(underTest))
    describe('questions', () => questionContract(underTest))
    describe('budgets', () => budgetContract(underTest))
    describe('cards', () => cardContract(underTest))
    describe('forgetting', () => forgettingContract(underTest))
    describe('standing rules', () => standingRuleContract(underTest))
    describe('memory, checkpoints, search', () => memoryContract(underTest))
    describe('ageing', () => ageingContract(underTest))
    describe('people', () => peopleContract(underTest))
    describe('channel state, notices', () => smallContract(underTest))
  })
}
