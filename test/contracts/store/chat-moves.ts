import { expect, it } from 'vitest'
import type { SessionDraft } from '../../../src/core/session.ts'
import { routeOf, scopeKeyOf, sessionDraft } from '../../store/sample-rows.ts'
import { type ContractPart, makeSession } from './under-test.ts'

const MOVE = { channel: 'telegram', from: '-200', to: '-100200' } as const

function inChat(chat: string, channel: 'telegram' | 'discord' = 'telegram'): Partial<SessionDraft> {
  return { scope: { ...routeOf(1).scope, channel, values: { chat } } }
}

export const chatMoveContract: ContractPart = (underTest) => {
  it('F-C07: a move is written once and known after a restart', async () => {
    const add = () => underTest.store.write((tx) => tx.chatMoves.add(MOVE, 1))
    expect([await add(), await add()]).toEqual([true, false])
    const { chatMoves } = (await underTest.reopen()).read
    expect(await chatMoves.all()).toEqual([{ ...MOVE, at: 1 }])
    expect([await chatMoves.movedAt('telegram', '-100200'), await chatMoves.movedAt('telegram', '-200')]).toEqual([
      1,
      undefined,
    ])
  })

  it('F-C07: the sessions of a chat are those of its topics too, and of no chat whose id only begins alike', async () => {
    const chats = ['group:-200', 'group:-200/7', 'group:-2001', 'direct:-200'].map((chat) => inChat(chat))
    const made = []
    for (const [chat, changes] of [...chats, inChat('group:-200', 'discord')].entries())
      made.push((await makeSession(underTest.store, chat, changes)).id)
    expect(await underTest.store.write((tx) => tx.chatMoves.sessionsIn(MOVE))).toEqual(made.slice(0, 2))
  })

  it('F-C07: a session is rekeyed and its pointer moved, over one that is there too', async () => {
    const { id } = await makeSession(underTest.store, 1)
    await makeSession(underTest.store, 2)
    const { scope, scopeKey, displayKey } = sessionDraft(2)
    await underTest.store.write(async (tx) => {
      await tx.chatMoves.rekeySession({ id, scope, scopeKey, displayKey, metadata: { chat_id: '2' } })
      await tx.chatMoves.repoint(scopeKeyOf(1), scopeKey, id)
    })
    const { sessions } = underTest.store.read
    expect(await sessions.current(scopeKey)).toMatchObject({ id, scope, displayKey, metadata: { chat_id: '2' } })
    expect(await sessions.current(scopeKeyOf(1))).toBeUndefined()
  })
}
