import { expect, it } from 'vitest'
import type { SessionId, TurnId } from '../../../src/core/ids.ts'
import type { LiveText, StreamReader } from '../../../src/core/operate-events.ts'
import type { FeedMember } from '../../../src/sessions/service/event-feed.ts'
import { LiveTexts } from '../../../src/sessions/service/live-texts.ts'
import { movedClock } from '../../agent/moved-clock.ts'

const SESSION = 'telegram:1' as SessionId

function textReader() {
  const taken: LiveText[] = []
  const room = { left: true }
  const reader: StreamReader = {
    ...{ event() {}, deleted() {}, beat() {}, end() {}, cut() {}, roomy: () => room.left, ready: async () => {} },
    text(text) {
      if (room.left) taken.push(text)
      return room.left
    },
  }
  const member: FeedMember = { reader, place: 0, texts: true, behind: true, sees: () => true }
  /** The text as somebody sees it who applies each piece. */
  const shown = () => taken.reduce((all, { from, text }) => all.slice(0, from) + text, '')
  return { member, taken, room, shown }
}

function rig(count = 1) {
  const clock = movedClock()
  const readers = Array.from({ length: count }, textReader)
  const texts = new LiveTexts(clock, () => readers.map(({ member }) => member))
  const grow = (text: string, turn = 'turn_1') => {
    texts.grew({ session: SESSION, turn: turn as TurnId, text })
    clock.advance(50)
  }
  return { clock, readers, texts, grow }
}

it('what has grown is sent, and the whole to whoever has just come', () => {
  const { readers, grow } = rig(2)
  const [first, second] = readers
  grow('one')
  if (second) second.member.behind = true
  grow('one two')
  expect(first?.taken.map(({ from, text }) => [from, text])).toEqual([
    [0, 'one'],
    [3, ' two'],
  ])
  expect(second?.taken.at(-1)).toMatchObject({ from: 0, text: 'one two' })
})

it('a reader that is behind is left out, and given the whole text once there is room', () => {
  const { readers, grow } = rig()
  const [reader] = readers
  if (!reader) throw new Error('there is one')
  grow('one')
  reader.room.left = false
  grow('one two')
  grow('one two three')
  reader.room.left = true
  grow('one two three four')
  expect(reader.taken).toHaveLength(2)
  expect(reader.shown()).toBe('one two three four')
})

it('S48: a marker is never seen, and what it takes back is taken back', () => {
  const { readers, grow } = rig()
  const [reader] = readers
  for (const text of ['Well', 'Well <', 'Well <NO_', 'Well <NO_REPLY', 'Well <NO_REPLY>', 'Well <NO_REPLY> then']) {
    grow(text)
    expect(reader?.shown()).not.toContain('<')
  }
  expect(reader?.shown()).toMatch(/^Well\s+then$/)
})

it('a piece begins with a whole character', () => {
  const { readers, grow } = rig()
  grow('a👍')
  grow('a👎')
  expect(readers[0]?.taken.at(-1)).toMatchObject({ from: 1, text: '👎' })
})

it('C8: nothing of a turn that is over is sent, though it was due', () => {
  const { clock, readers, texts } = rig()
  texts.grew({ session: SESSION, turn: 'turn_1' as TurnId, text: 'one' })
  texts.grew({ session: SESSION, turn: 'turn_1' as TurnId, text: 'one two' })
  texts.over(SESSION)
  clock.advance(1_000)
  expect(readers[0]?.taken.map(({ text }) => text)).toEqual(['one'])
  expect(clock.pending()).toBe(0)
})

it('many pieces in a short time are sent as one', () => {
  const { clock, readers, texts } = rig()
  for (let no = 1; no <= 100; no++) texts.grew({ session: SESSION, turn: 'turn_1' as TurnId, text: 'x'.repeat(no) })
  clock.advance(50)
  expect(readers[0]?.taken.map(({ text }) => text.length)).toEqual([1, 99])
})
