import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Frame } from '../../src/client/events.ts'
import { openLocal } from '../http/open-stream.ts'
import { forgettingHouse } from './forgetting-house.ts'

const WORD = 'zqstreamvorn'

/** Reads a stream up to the end of the turn that answers these words. */
async function readUntil(next: () => Promise<Frame | undefined>, words: string): Promise<readonly Frame[]> {
  const frames: Frame[] = []
  let isHeard = false
  for (;;) {
    const frame = await next()
    if (frame === undefined) throw new Error('The stream ended.')
    if (frame.event !== 'message') continue
    frames.push(frame)
    isHeard ||= frame.data.includes(words)
    if (isHeard && frame.data.includes('turn_completed')) return frames
  }
}

it.each(['one session', 'all sessions'])(
  'what was forgotten is in no stream of %s that goes on from before it was said',
  async (which) => {
    const { home, say } = await forgettingHouse()
    await say('good morning')
    const [session] = (await home.daemon.operator.sessions.list({ limit: 1, offset: 0, inactive: true })).sessions
    const path =
      which === 'one session' ? `/v1/sessions/${encodeURIComponent(String(session?.id))}/events` : '/v1/events'
    const open = (from?: string) =>
      openLocal(join(home.dataDir, 'parley.sock'), path, from === undefined ? {} : { 'Last-Event-ID': from })
    const live = await open()
    await say('the plain one')
    const before = (await readUntil(live.next, 'the plain one')).at(-1)?.id
    await say(`the code is ${WORD}`)
    const heard = await readUntil(live.next, WORD)
    expect(await say('/forget last')).toMatch(/^Forgotten/)
    await say('and now?')
    const replayed = await readUntil((await open(before)).next, 'and now?')
    expect(replayed.map(({ id }) => id)).toEqual(expect.arrayContaining(heard.map(({ id }) => id)))
    const onward = await readUntil(live.next, 'and now?')
    for (const { data } of [...replayed, ...onward]) expect(data).not.toContain(WORD)
  },
)
