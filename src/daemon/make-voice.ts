import type { AgentProfile } from '../core/agent-profile.ts'
import type { Audio, Hear } from '../core/audio.ts'
import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import { failpoint } from '../core/failpoint.ts'
import type { MediaId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { InboundEvent } from '../core/message.ts'
import type { SessionIdentity } from '../core/session.ts'
import type { OverridesCache } from '../sessions/lookups/overrides-cache.ts'
import type { StartedTurn } from '../sessions/turns/started-turn.ts'
import { askedElsewhere } from '../sessions/turns/turn-reply.ts'
import type { Store, StoreReader } from '../store/store.ts'

export interface VoiceDeps {
  readonly audio: Pick<Audio, 'speak'>
  readonly read: Pick<StoreReader, 'inbox'>
  readonly overrides: Pick<OverridesCache, 'of'>
  agent(session: SessionIdentity): Pick<AgentProfile, 'voice'>
}

/**
 * Returns whether the answer of a turn is to be spoken: as the session is set, else as its agent is. Nothing is spoken
 * that nobody in the chat has asked for.
 */
export async function isSpoken({ audio, read, overrides, agent }: VoiceDeps, turn: StartedTurn): Promise<boolean> {
  if (audio.speak === undefined || askedElsewhere(turn)) return false
  const mode = overrides.of(turn.session.id).voice ?? agent(turn.session).voice ?? 'never'
  if (mode !== 'when-spoken-to') return mode === 'always'
  return (await read.inbox.ofTurn(turn.id)).some(({ dispatch }) => isOwnVoice(dispatch.event))
}

/** A voice note that was forwarded is somebody else's. */
function isOwnVoice(event: InboundEvent): boolean {
  return (
    'attachments' in event &&
    event.forwarded === undefined &&
    event.attachments.some(({ kind, quoted }) => kind === 'voice' && quoted === undefined)
  )
}

interface HearDeps {
  readonly transcribe: NonNullable<Audio['transcribe']>
  readonly store: Pick<Store, 'read' | 'write'>
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
}

/**
 * Returns the function that transcribes recordings. A transcript is on record, by the digest of its recording, before
 * anything is made of it: the same recording is transcribed once, whoever sends it again, and also after a crash.
 */
export function createHear({ transcribe, store, clock, logger }: HearDeps): Hear {
  const asking = new Map<MediaId, ReturnType<Hear>>()
  const ask: Hear = async (recording, signal, charge) => {
    const known = await store.read.transcripts.of(recording.id)
    if (known !== undefined) return { said: known }
    try {
      const { said } = await transcribe(recording, signal, charge)
      await store.write((tx) => tx.transcripts.add(recording.id, said, clock.now()))
      failpoint('CP32-transcript-kept')
      return { said }
    } catch (err) {
      if (!signal.aborted) logger.warn('A recording could not be heard', { err, media: recording.id })
      const why = err instanceof ParleyError && IN_WORDS.has(err.code) ? `: ${err.message}` : ''
      return { unheard: `${UNHEARD}${why.replace(/\.$/, '')}` }
    }
  }
  const hear: Hear = async (recording, signal, charge) => {
    const { id } = recording
    const others = asking.get(id)
    if (others === undefined) {
      const work = ask(recording, signal, charge).finally(() => asking.delete(id))
      asking.set(id, work)
      return work
    }
    const outcome = await Promise.race([others, aborted(signal)])
    if (outcome === undefined) return { unheard: UNHEARD }
    // They may have stopped it, or have nothing left to pay it with, which is nothing to who waits beside them.
    return 'said' in outcome ? outcome : hear(recording, signal, charge)
  }
  return hear
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}

const UNHEARD = 'it could not be heard'

/** Errors whose words are for people. */
const IN_WORDS: ReadonlySet<string> = new Set(['unavailable', 'unreadable', 'too_long', 'forbidden', 'budget_spent'])
