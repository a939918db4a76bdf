import { expect, test } from 'vitest'
import { placeToAsk } from '../../src/questions/ask-where.ts'
import type { InboxRow } from '../../src/store/inbox-port.ts'
import type { Store } from '../../src/store/store.ts'

const ADDRESS = { channel: 'telegram', account: 'default', chatType: 'direct', chat: '111' } as const
const ROW = { decision: { kind: 'run' }, dispatch: { event: { sender: { id: '111' } } } } as unknown as InboxRow

function place(reply: object = {}, session: object = {}) {
  const read = {
    sessions: { get: async () => ({ source: { interactive: true }, scope: { values: {} }, ...session }) },
    turns: { get: async () => ({ traceId: 't', reply: { address: ADDRESS, ...reply } }) },
    inbox: { ofTurn: async () => [ROW] },
  } as unknown as Store['read']
  const turn = { id: 'turn', sessionId: 's', agentId: 'main' } as unknown as Parameters<typeof placeToAsk>[2]
  return placeToAsk({ store: { read }, authorOf: () => 'telegram:111' as never }, {}, turn)
}

test('F-H07: a question is for whoever wrote what the turn answers', async () => {
  expect(await place()).toMatchObject({ reply: { address: ADDRESS }, to: { author: 'telegram:111' } })
})

test('F-H07: nobody is asked where the answer goes to a program or there is nobody', async () => {
  await expect(place({ elsewhere: true })).rejects.toThrow('this answer is read by a program')
  await expect(place({}, { source: { interactive: false } })).rejects.toThrow('nobody is there')
})
