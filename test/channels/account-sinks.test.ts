import { expect, test } from 'vitest'
import { AccountSinks } from '../../src/channels/account-sinks.ts'
import { systemClock } from '../../src/core/clock.ts'
import { type TraceId, toAccountId } from '../../src/core/ids.ts'
import { message } from '../fakes/dispatch.ts'

test('an event that cannot be taken in rejects, so that an adapter goes on with the next', async () => {
  const sinks = new AccountSinks({
    clock: systemClock,
    ids: { trace: () => 'tr_1' as TraceId },
    accept() {
      throw new Error('no route')
    },
    overheard: () => {},
    notifyOwners: () => {},
    state: () => ({ get: async () => undefined, set: async () => {}, delete: async () => {} }),
  })
  const sink = sinks.sink('telegram', toAccountId('default'))
  const accepted = Promise.allSettled([message()].map((event) => sink.accept(event)))
  expect(await accepted).toMatchObject([{ status: 'rejected', reason: { message: 'no route' } }])
})

test('a copy of what the bot said itself is not counted among what was not understood; what stands in it is overheard', () => {
  const overheard: unknown[] = []
  const sinks = new AccountSinks({
    clock: systemClock,
    ids: { trace: () => 'tr_1' as TraceId },
    accept: async () => {},
    overheard: (payload) => overheard.push(payload),
    notifyOwners: () => {},
    state: () => ({ get: async () => undefined, set: async () => {}, delete: async () => {} }),
  })
  const sink = sinks.sink('telegram', toAccountId('default'))
  for (const kind of ['poll', 'own_message', 'poll']) sink.unknown(kind, kind)
  expect(sinks.unknown('telegram', toAccountId('default'))).toEqual({ poll: 2 })
  expect(overheard).toEqual(['poll', 'own_message', 'poll'])
})
