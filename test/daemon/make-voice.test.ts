import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { ParleyError } from '../../src/core/errors.ts'
import { mediaId } from '../../src/core/ids.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createHear } from '../../src/daemon/make-voice.ts'
import { deferred } from '../../src/rehearsal/deferred.ts'
import type { Store } from '../../src/store/store.ts'

const recording = { id: mediaId('a'.repeat(64)), bytes: new Uint8Array(), mime: 'audio/ogg' }

/** Whoever asks first is the one for whom the endpoint is asked; the second call succeeds. */
function hearing() {
  const kept = new Map<string, string>()
  const transcripts = {
    of: async (id: string) => kept.get(id),
    add: async (id: string, said: string) => void kept.set(id, said),
  }
  const store = { read: { transcripts }, write: (work: (tx: object) => unknown) => work({ transcripts }) }
  const first = deferred<Error>()
  let calls = 0
  const hear = createHear({
    transcribe: () =>
      ++calls === 1 ? first.promise.then((error) => Promise.reject(error)) : Promise.resolve({ said: 'hello' }),
    store: store as unknown as Store,
    clock: systemClock,
    logger: silentLogger,
  })
  return { hear, fail: first.resolve, calls: () => calls }
}

it.each([
  ['stops waiting for it', new ParleyError('aborted', 'The page is no longer wanted.')],
  ['has spent a budget', new ParleyError('budget_spent', 'The budget is spent.')],
])('a recording that two have sent is heard for the one where the other %s', async (_, error) => {
  const { hear, fail, calls } = hearing()
  const theirs = hear(recording, new AbortController().signal)
  const ours = [1, 2].map(() => hear(recording, new AbortController().signal))
  fail(error)
  expect(await theirs).toMatchObject({ unheard: expect.stringContaining('could not be heard') })
  expect(await Promise.all(ours)).toEqual([{ said: 'hello' }, { said: 'hello' }])
  expect(calls()).toBe(2)
})

it('who has stopped does not wait for a recording that is heard for somebody else', async () => {
  const { hear } = hearing()
  void hear(recording, new AbortController().signal)
  const stop = new AbortController()
  const ours = hear(recording, stop.signal)
  stop.abort()
  expect(await ours).toEqual({ unheard: 'it could not be heard' })
})
