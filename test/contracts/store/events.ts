import { expect, it } from 'vitest'
import { type Content, type MediaPart, textContent } from '../../../src/core/content.ts'
import { mediaId, type SessionId } from '../../../src/core/ids.ts'
import { NO_USAGE } from '../../../src/core/model.ts'
import type { EventToAppend } from '../../../src/store/event-port.ts'
import { assistantMessage, ids, turnCompleted, userMessage } from '../../store/sample-rows.ts'
import { type ContractPart, makeSession, rejection } from './under-test.ts'

export const eventContract: ContractPart = (underTest) => {
  const append = (id: SessionId, at: number, ...drafts: readonly EventToAppend[]) =>
    underTest.store.write((tx) => tx.events.append(id, at, drafts))

  it('S15: events come back word for word, in order, after a restart', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const turnId = ids.turn()
    const drafts: readonly EventToAppend[] = [
      { type: 'session_started', data: { agent: 'main' } },
      userMessage('Grüße \u0000 👋'),
      { type: 'turn_started', data: { traceId: ids.trace() }, turnId },
      { type: 'tool_call', data: { callId: 'c1', tool: 'list', args: { deep: [1, null] }, class: 'pure' }, turnId },
      { type: 'tool_result', data: { callId: 'c1', tool: 'list', content: textContent('[]'), isError: false }, turnId },
      { ...assistantMessage('<NO_REPLY>'), turnId },
      { ...turnCompleted, turnId },
    ]
    expect(await append(id, 7, ...drafts)).toBe(1)
    const store = await underTest.reopen()
    const stored = drafts.map((draft, index) => ({ seq: index + 1, at: 7, ...draft }))
    expect(await store.read.events.since(id, 0, 100)).toEqual(stored)
  })

  it('S15: half of a character, which no export, model or program takes, is stored as the mark of a bad one', async () => {
    const { id } = await makeSession(underTest.store, 1)
    await append(id, 7, userMessage('cut \ud800 here'))
    expect(await underTest.store.read.events.since(id, 0, 1)).toMatchObject([{ data: { text: 'cut \ufffd here' } }])
  })

  const result = (content: Content): EventToAppend => ({
    type: 'tool_result',
    data: { callId: 'c', tool: 'look', content, isError: false },
  })
  const picture: MediaPart = {
    type: 'image',
    media: mediaId('ab'.repeat(32)),
    mime: 'image/png',
    size: 9,
    name: 'a.png',
  }

  it('C25: parts of a content come back as they were, after a restart too', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const contents: readonly Content[] = [
      [],
      textContent('one text'),
      [picture],
      [{ type: 'text', text: 'first' }, picture, { type: 'text', text: 'last' }],
    ]
    await append(id, 1, ...contents.map(result))
    const store = await underTest.reopen()
    const events = await store.read.events.since(id, 0, 100)
    expect(events.map((event) => event.type === 'tool_result' && event.data.content)).toEqual(contents)
  })

  it.each([
    ['bytes', { media: 'data:image/png;base64,iVBORw0KGgo=' }],
    ['an address', { media: 'https://example.org/cat.png' }],
    ['a path', { media: '/etc/passwd' }],
    ['a path behind a handle', { media: `media://sha256-${'ab'.repeat(32)}/../../x` }],
    ['no handle', { media: undefined }],
    ['bytes beside the handle', { data: 'QUJD' }],
    ['an address beside the handle', { url: 'https://example.org/cat.png' }],
    ['a size below nothing', { size: -1 }],
    ['a part of another type', { type: 'video' }],
  ])(
    'C25: %s in the place of a handle is refused, in a result and in a message, and nothing is stored',
    async (_, wrong) => {
      const { id } = await makeSession(underTest.store, 1)
      const part = { ...picture, ...wrong } as MediaPart
      const message = userMessage('look', { attachments: [{ ref: 'f1', media: part }] })
      await expect(append(id, 1, userMessage('before'), result([part]))).rejects.toMatchObject({ code: 'invalid' })
      if (part.type !== picture.type) return
      await expect(append(id, 1, userMessage('before'), message)).rejects.toMatchObject({ code: 'invalid' })
      expect(await underTest.store.read.events.since(id, 0, 100)).toEqual([])
    },
  )

  it('a file is used as long as a session has events that name it, its copies included', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const other = await makeSession(underTest.store, 2)
    const attached = { ...picture, media: mediaId('cd'.repeat(32)) }
    await append(
      id,
      1,
      result([picture, picture]),
      userMessage('look', { attachments: [{ ref: 'f', media: attached }] }),
    )
    const both = [picture.media, attached.media]
    const used = () => underTest.store.read.media.used([...both, mediaId('00'.repeat(32))])
    expect(await used()).toEqual(new Set(both))
    await underTest.store.write((tx) => tx.events.copy(id, other.id))
    for (const gone of [id, other.id]) {
      expect(await used()).toEqual(new Set(both))
      await underTest.store.write(async (tx) => {
        const deleted = await tx.sessions.remove(gone, 3)
        await tx.events.remove(deleted, 100)
        await tx.sessions.purge(deleted)
      })
    }
    expect(await used()).toEqual(new Set())
  })

  it('S17: since gives exactly the later events, latest the newest, both in order and bounded', async () => {
    const { id } = await makeSession(underTest.store, 1)
    for (let no = 1; no <= 5; no++) await append(id, no, userMessage(`text ${no}`))
    const { events } = underTest.store.read
    const seqs = (rows: readonly { seq: number }[]) => rows.map((row) => row.seq)
    expect(seqs(await events.since(id, 2, 100))).toEqual([3, 4, 5])
    expect(seqs(await events.since(id, 2, 2))).toEqual([3, 4])
    expect(seqs(await events.since(id, 5, 100))).toEqual([])
    expect(seqs(await events.latest(id, 2))).toEqual([4, 5])
  })

  it('C22: what the turns of a log cost is summed over the whole of it', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const { usage } = turnCompleted.type === 'turn_completed' ? turnCompleted.data : { usage: { input: 0, output: 0 } }
    for (let no = 0; no < 6; no++) {
      await append(id, no, ...Array.from({ length: 100 }, (): EventToAppend => turnCompleted), userMessage('and'))
    }
    const total = { turns: 600, reached: 600, usage: { input: 600 * usage.input, output: 600 * usage.output } }
    expect(await underTest.store.read.events.spent(id)).toEqual(total)
    expect(await underTest.store.read.events.spent('telegram:nothing' as SessionId)).toMatchObject({ turns: 0 })
  })

  it('C22: tokens of the cache are summed apart, and older logs name none', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const usage = { input: 7, output: 2, cacheRead: 900, cacheWrite: 100 }
    const cached: EventToAppend = { type: 'turn_completed', data: { outcome: 'answered', usage, steps: 1 } }
    await append(id, 1, turnCompleted, cached, cached)
    expect(await underTest.store.read.events.spent(id)).toEqual({
      turns: 3,
      reached: 3,
      usage: { input: 24, output: 9, cacheRead: 1_800, cacheWrite: 200 },
    })
  })

  it('C12, C22: a turn that reached no model is a turn, and a summary costs and is none', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const usage = { input: 5, output: 1 }
    const failed: EventToAppend = { type: 'turn_completed', data: { outcome: 'failed', usage: NO_USAGE, steps: 0 } }
    const summary: EventToAppend = {
      type: 'context_compacted',
      data: { text: 'short', model: 'm', usage, turns: 3, back: 1 },
    }
    const first = await append(id, 1, turnCompleted, failed, summary)
    const spent = await underTest.store.read.events.spent(id)
    expect(spent).toMatchObject({ turns: 2, reached: 1, usage: { input: 5 + 10, output: 1 + 5 } })
    expect(await underTest.store.read.events.latestSummary(id)).toEqual({ seq: first + 2, back: 1 })
    expect(await underTest.store.read.events.latestSummary('telegram:nothing' as SessionId)).toBeUndefined()
  })

  it('C23, K37: 200 parallel appends give 200 messages in one order without gap or repeat', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const numbers = Array.from({ length: 200 }, (_, no) => no)
    const firsts = await Promise.all(numbers.map((no) => append(id, no, userMessage(`text ${no}`))))
    expect(firsts).toEqual(numbers.map((no) => no + 1))
    const events = await underTest.store.read.events.since(id, 0, 1_000)
    expect(events.map((event) => event.data)).toEqual(numbers.map((no) => userMessage(`text ${no}`).data))
    expect(await underTest.store.read.sessions.get(id)).toMatchObject({ messageCount: 200, lastSeq: 200 })
  })

  it('S16: the events of all sessions have one order, that in which they were stored', async () => {
    const [ada, bob] = [await makeSession(underTest.store, 1), await makeSession(underTest.store, 2)]
    await append(ada.id, 9, userMessage('1'), userMessage('2'))
    await append(bob.id, 3, userMessage('3'))
    await append(ada.id, 5, userMessage('4'))
    const { read } = underTest.store
    const stored = await read.events.stored(0, 10)
    expect(stored.map(({ session, event }) => [session, event.seq])).toEqual([
      [ada.id, 1],
      [ada.id, 2],
      [bob.id, 1],
      [ada.id, 3],
    ])
    expect(await read.events.stored(stored[1]?.place ?? 0, 1)).toEqual([stored[2]])
    expect(await read.events.newest()).toEqual(stored[3])
    expect(await read.events.placed(bob.id, 1)).toEqual(stored[2])
    expect(await read.events.placed(bob.id, 2)).toBeUndefined()
    const last = await (await underTest.reopen()).read.events.newest()
    expect(last).toEqual(stored[3])
  })

  it('S16: a deleted session has no place among them', async () => {
    const { id } = await makeSession(underTest.store, 1)
    await append(id, 1, userMessage('1'))
    await underTest.store.write((tx) => tx.sessions.remove(id, 2))
    expect(await underTest.store.read.events.stored(0, 10)).toEqual([])
    expect(await underTest.store.read.events.newest()).toBeUndefined()
    expect(await underTest.store.read.events.placed(id, 1)).toBeUndefined()
  })

  it('C6: an undone append leaves no gap', async () => {
    const { id } = await makeSession(underTest.store, 1)
    await append(id, 1, userMessage('one'))
    await rejection(underTest.store, async (tx) => {
      await tx.events.append(id, 2, [userMessage('undone')])
      throw new Error('undo')
    })
    expect(await append(id, 3, userMessage('two'))).toBe(2)
  })

  it('K38: sessions are numbered apart', async () => {
    const [a, b] = [await makeSession(underTest.store, 1), await makeSession(underTest.store, 2)]
    expect(await append(a.id, 1, userMessage('a'), userMessage('b'))).toBe(1)
    expect(await append(b.id, 1, userMessage('c'))).toBe(1)
    expect(await append(a.id, 1, userMessage('d'))).toBe(3)
    expect(await underTest.store.read.events.since(b.id, 0, 10)).toHaveLength(1)
  })

  it('a long append keeps its order', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const texts = Array.from({ length: 150 }, (_, no) => `text ${no}`)
    await append(id, 1, ...texts.map((text) => userMessage(text)))
    const events = await underTest.store.read.events.since(id, 0, 1_000)
    expect(events.map((event) => event.seq)).toEqual(texts.map((_, no) => no + 1))
    expect(events.map((event) => event.type === 'user_message' && event.data.text)).toEqual(texts)
  })

  it('S13: the row shows activity, message count, ended turns and preview', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const cancelled: EventToAppend = { type: 'turn_cancelled', data: { reason: 'stop' } }
    await append(id, 10, userMessage('question'))
    await append(id, 20, assistantMessage('a'.repeat(300)), turnCompleted, cancelled)
    expect(await underTest.store.read.sessions.get(id)).toMatchObject({
      createdAt: 1_000,
      lastActivityAt: 20,
      messageCount: 2,
      turnCount: 2,
      preview: 'a'.repeat(200),
      lastSeq: 4,
    })
  })

  it.each([
    ['a silent answer', '<NO_REPLY>', 'question'],
    ['markers beside text', 'yes <NO_REPLY>', 'yes'],
    ['half a surrogate pair at the cut', `${'a'.repeat(199)}👋`, 'a'.repeat(199)],
  ])('S13: the preview after %s', async (_, answer, preview) => {
    const { id } = await makeSession(underTest.store, 1)
    await append(id, 10, userMessage('question'), assistantMessage(answer))
    expect(await underTest.store.read.sessions.get(id)).toMatchObject({ preview })
  })

  it('S14: the first user message becomes the description and stays it', async () => {
    const { id } = await makeSession(underTest.store, 1)
    await append(id, 1, { type: 'session_started', data: { agent: 'main' } })
    expect(await underTest.store.read.sessions.get(id)).toMatchObject({ description: '' })
    await append(id, 1, userMessage(` first\n line ${'x'.repeat(90)}`), userMessage('second'))
    await append(id, 2, userMessage('third'))
    const description = `${`first line ${'x'.repeat(90)}`.slice(0, 77)}...`
    expect(await underTest.store.read.sessions.get(id)).toMatchObject({ description, descriptionSource: 'fallback' })
  })

  it('an append to a session nobody knows is not found', async () => {
    const nobody = 'cli:nobody' as SessionId
    const failure = await rejection(underTest.store, (tx) => tx.events.append(nobody, 1, [userMessage('x')]))
    expect(failure).toMatchObject({ code: 'not_found' })
  })

  it('C31: an event of no known type and an empty append are refused', async () => {
    const { id } = await makeSession(underTest.store, 1)
    const unknown = { type: 'gossip', data: {} } as unknown as EventToAppend
    expect(await rejection(underTest.store, (tx) => tx.events.append(id, 1, [unknown]))).toMatchObject({
      code: 'invalid',
    })
    expect(await rejection(underTest.store, (tx) => tx.events.append(id, 1, []))).toMatchObject({ code: 'invalid' })
    expect(await underTest.store.read.sessions.get(id)).toMatchObject({ lastSeq: 0 })
  })

  it('K32, C31: a damaged event in the middle is skipped and counted, the rest is read', async () => {
    const { id } = await makeSession(underTest.store, 1)
    await append(id, 1, userMessage('one'), userMessage('two'), userMessage('three'))
    const store = await underTest.reopen("UPDATE events SET data = '{' WHERE seq = 2")
    expect((await store.read.events.since(id, 0, 10)).map((event) => event.seq)).toEqual([1, 3])
    expect(underTest.warnings).toMatchObject([{ fields: { table: 'events', rows: [`${id} 2`], count: 1 } }])
    expect(await append(id, 2, userMessage('four'))).toBe(4)
  })

  it('K27: a copy keeps order and times, continues the numbers, and counts', async () => {
    const [from, to] = [await makeSession(underTest.store, 1), await makeSession(underTest.store, 2)]
    const started: EventToAppend = { type: 'session_started', data: { agent: 'main' } }
    await append(from.id, 5, started, userMessage('one'))
    await append(from.id, 6, assistantMessage('two'), turnCompleted)
    await append(to.id, 9, started)
    expect(await underTest.store.write((tx) => tx.events.copy(from.id, to.id))).toBe(3)
    expect(await append(to.id, 10, userMessage('three'))).toBe(5)
    const events = await underTest.store.read.events.since(to.id, 0, 10)
    expect(events.map(({ seq, at, type }) => [seq, at, type])).toEqual([
      [1, 9, 'session_started'],
      [2, 5, 'user_message'],
      [3, 6, 'assistant_message'],
      [4, 6, 'turn_completed'],
      [5, 10, 'user_message'],
    ])
    const counts = { messageCount: 3, turnCount: 1, description: 'one', preview: 'three', lastSeq: 5 }
    expect(await underTest.store.read.sessions.get(to.id)).toMatchObject(counts)
    expect(await underTest.store.read.events.since(from.id, 0, 10)).toHaveLength(4)
    const nobody = rejection(underTest.store, (tx) => tx.events.copy('telegram:x' as SessionId, to.id))
    expect(await nobody).toMatchObject({ code: 'not_found' })
  })
}
