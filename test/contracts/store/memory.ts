import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../../src/core/ids.ts'
import type { NewMemoryEntry } from '../../../src/store/memory-port.ts'
import { sessionDraft } from '../../store/sample-rows.ts'
import type { ContractPart } from './under-test.ts'

const AGENT = toAgentId('main')
const [FIRST, SECOND] = [sessionDraft(1), sessionDraft(2)]
const [HERE, THERE] = [FIRST.id, SECOND.id]

function entry(request: string, text: string, more: Partial<NewMemoryEntry> = {}): NewMemoryEntry {
  const rest = { authors: ['telegram:111'], by: 'checkpoint', at: 5_000, sources: [] } as const
  return { agentId: AGENT, sessionId: HERE, request, text, ...rest, ...more }
}

export const memoryContract: ContractPart = (underTest) => {
  const open = () =>
    underTest.store.write(async (tx) => {
      await tx.sessions.create(FIRST, 1_000)
      await tx.sessions.create(SECOND, 2_000)
    })
  const add = (...entries: readonly NewMemoryEntry[]) =>
    underTest.store.write(async (tx) => {
      for (const one of entries) await tx.memory.add(one)
    })
  const found = async (words: string, sessions = [HERE, THERE]) => {
    const hits = await underTest.store.read.search.find({ words, of: 'entries', sessions, limit: 10 })
    return hits.map((hit) => hit.entry)
  }

  it('S38: an entry is kept with whose words it is, once a request, under a number that is never given twice', async () => {
    await open()
    await add(entry('a', 'Ada likes tea'), entry('a', 'again'), entry('b', 'Bob likes coffee', { sessionId: THERE }))
    const { read, write } = await underTest.reopen()
    expect(await read.memory.all(10)).toMatchObject([
      { no: 2, sessionId: THERE },
      { no: 1, text: 'Ada likes tea' },
    ])
    expect(await read.memory.get(1)).toEqual({
      ...{ no: 1, agentId: AGENT, sessionId: HERE, text: 'Ada likes tea' },
      ...{ authors: ['telegram:111'], by: 'checkpoint', at: 5_000 },
    })
    expect(await write((tx) => tx.memory.remove(2))).toBe(true)
    expect(await write((tx) => tx.memory.remove(2))).toBe(false)
    expect(await write((tx) => tx.memory.add(entry('c', 'Cy likes milk')))).toMatchObject({ no: 3 })
    expect(await read.memory.sessions(AGENT)).toEqual([HERE])
    expect(await read.memory.sessions(toAgentId('other'))).toEqual([])
    expect(await read.memory.sessions(AGENT, SECOND.scopeKey)).toEqual([])
  })

  it('S38: an entry is gone with a message it is made of, with its session, and from the search', async () => {
    await open()
    const sources = [{ messageId: '7' }]
    await add(entry('a', 'made of seven', { sources }), entry('b', 'made of nothing'))
    await add(entry('c', 'made of seven elsewhere', { sessionId: THERE, sources }))
    await underTest.store.write((tx) => tx.memory.removeOf(HERE, { messageId: '7' }))
    expect(await found('seven')).toEqual([3])
    await underTest.store.write((tx) => tx.memory.change(3, { ...entry('', 'now of eight'), sources: [] }))
    expect(await found('seven')).toEqual([])
    expect(await found('eight')).toEqual([3])
    await underTest.store.write((tx) => tx.memory.removeAll(THERE))
    expect(await found('eight')).toEqual([])
    expect(await underTest.store.read.memory.all(10)).toMatchObject([{ no: 2 }])
  })

  it('S38: an entry that a model has changed is made of its earlier messages too, in the words of a person of none', async () => {
    await open()
    const { write } = underTest.store
    const changed = (by: 'checkpoint' | 'person', messageId?: string) => ({
      ...{ ...entry('', 'of seven and eight'), by },
      sources: messageId === undefined ? [] : [{ messageId }],
    })
    await add(entry('a', 'of seven', { sources: [{ messageId: '7' }] }))
    await write((tx) => tx.memory.change(1, changed('checkpoint', '8')))
    await write((tx) => tx.memory.change(1, changed('person')))
    expect(await write((tx) => tx.memory.removeOf(HERE, { messageId: '8' }))).toBe(0)
    await write((tx) => tx.memory.change(1, changed('checkpoint', '7')))
    await write((tx) => tx.memory.change(1, changed('checkpoint', '8')))
    expect(await write((tx) => tx.memory.removeOf(HERE, { messageId: '7' }))).toBe(1)
    expect(await found('seven')).toEqual([])
  })

  it('S38: part of a word, another case, umlauts and two Chinese characters are found', async () => {
    await open()
    await add(
      entry('a', 'Ada mag Käse aus der Straße in Köln'),
      entry('b', '王小明喜欢喝茶'),
      entry('c', 'Kaffee at 5'),
    )
    for (const words of ['käse', 'KÄSE', 'kase', 'äse', 'STRASSE', 'raß', 'Köl', 'kö', 'ö']) {
      expect([words, (await found(words)).includes(1)]).toEqual([words, true])
    }
    for (const words of ['喜欢', '喝茶', '小明喜', '茶']) expect([words, await found(words)]).toEqual([words, [2]])
    expect(await found('ff')).toEqual([3])
    expect(await found('kaffee 5')).toEqual([3])
    // Where no text has all words, those that have some are found.
    expect(await found('does ada like käse with wine')).toEqual([1])
    expect(await found('käse', [THERE])).toEqual([])
    expect(await found('käse', [])).toEqual([])
  })

  it('S38: no query is an error, and its signs are no operators', async () => {
    await open()
    await add(entry('a', 'plain words NEAR here'), entry('b', '100% of "quotes"'))
    const hostile = [
      '"',
      '""',
      "'",
      'NEAR(plain words)',
      'plain NOT words',
      '*',
      'pla*',
      '^plain',
      'a OR',
      'words:',
      '(',
      '\0',
    ]
    for (const words of [
      ...hostile,
      'words\0here',
      '%',
      '_',
      '\\',
      '{a b}:x',
      '\ud800',
      '🎉',
      '',
      ' ',
      'x'.repeat(50_000),
    ])
      await found(words)
    expect(await found('pla*')).toEqual([1])
    expect(await found('"plain" -words')).toEqual([1])
    expect(await found('%')).toEqual([2])
    expect(await found('words\0here')).toEqual([1])
    expect(await found('near(plain)')).toEqual([1])
    expect(await found('zzz*')).toEqual([])
  })

  it('F-H11: messages are found by what they say now, where they were said', async () => {
    await open()
    const { store } = underTest
    const said = {
      text: 'x',
      sender: { id: '1', kind: 'user' },
      owner: false,
      addressed: false,
      triggers: false,
    } as const
    for (const id of [HERE, THERE])
      await store.write((tx) => tx.events.append(id, 3_000, [{ type: 'user_message', data: said }]))
    expect(await store.read.search.behind(0, 10)).toEqual([THERE, HERE])
    const first = { seq: 1, words: 'the bluebird sings', message: { messageId: '1' } }
    await store.write((tx) => tx.search.index(HERE, 2, { added: [first], gone: [] }))
    await store.write((tx) => tx.search.index(THERE, 1, { added: [{ seq: 1, words: 'a bluebird' }], gone: [] }))
    expect([await store.read.search.indexedTo(HERE), await store.read.search.indexedTo(THERE)]).toEqual([2, 1])
    const find = (sessions?: readonly (typeof HERE)[]) =>
      store.read.search.find({ words: 'bluebird', of: 'messages', limit: 10, ...(sessions ? { sessions } : {}) })
    expect(await find()).toEqual([
      { sessionId: THERE, seq: 1 },
      { sessionId: HERE, seq: 1 },
    ])
    expect(await find([HERE])).toEqual([{ sessionId: HERE, seq: 1 }])
    const second = { seq: 3, words: 'the bluebird is gone', message: { messageId: '1' } }
    await store.write((tx) => tx.search.index(HERE, 3, { added: [second], gone: [{ messageId: '1' }] }))
    expect(await find([HERE])).toEqual([{ sessionId: HERE, seq: 3 }])
    await store.write((tx) => tx.search.index(HERE, 4, { added: [], gone: [{ messageId: '1' }] }))
    expect(await find([HERE])).toEqual([])
    const [third, gone] = [{ seq: 5, words: 'a bluebird', message: { messageId: '2' } }, [{ messageId: '2' }]]
    await store.write((tx) => tx.search.index(HERE, 6, { added: [third], gone: [], copied: true }))
    await store.write((tx) => tx.search.index(HERE, 7, { added: [], gone }))
    expect(await find([HERE]), 'words that were copied').toEqual([{ sessionId: HERE, seq: 5 }])
  })

  describe('checkpoints that are owed', () => {
    it('S35: a session owes one at a time, after a restart too, until it is settled', async () => {
      await open()
      await underTest.store.write(async (tx) => {
        await tx.checkpoints.owe(HERE, 'turn_limit', 10)
        await tx.checkpoints.owe(HERE, 'idle', 20)
        await tx.checkpoints.owe(THERE, 'new_session', 30)
        await tx.checkpoints.putOff(HERE, 99)
      })
      const { read, write } = await underTest.reopen()
      expect(await read.checkpoints.owed()).toEqual([
        { sessionId: HERE, reason: 'turn_limit', attempts: 1, notBefore: 99 },
        { sessionId: THERE, reason: 'new_session', attempts: 0, notBefore: 30 },
      ])
      await write((tx) => tx.checkpoints.settle(HERE))
      expect((await read.checkpoints.owed()).map(({ sessionId }) => sessionId)).toEqual([THERE])
    })

    it('S34: the newest checkpoint of a log is found, and sessions with events after theirs', async () => {
      await open()
      const data = { reason: 'idle', model: 'm', usage: { input: 3, output: 1 }, back: 1, entries: [] } as const
      const events = [{ type: 'checkpoint_written', data }] as const
      const said = [{ type: 'turn_cancelled', data: { reason: 'stopped' } }] as const
      await underTest.store.write(async (tx) => {
        await tx.events.append(HERE, 3_000, said)
        await tx.events.append(HERE, 3_000, events)
        await tx.events.append(THERE, 4_000, said)
      })
      const { read } = underTest.store
      const last = await read.events.latestCheckpoint(HERE)
      expect(last?.data).toEqual(data)
      expect(await read.events.latestCheckpoint(THERE)).toBeUndefined()
      expect(await read.checkpoints.unread(0, 10)).toEqual([THERE])
      expect((await read.events.spent(HERE)).usage).toEqual({ input: 3, output: 1 })
    })
  })
}
