import type { ChannelAdapter } from '../channels/adapter.ts'
import { fetchesFiles, readsThreads } from '../channels/capabilities.ts'
import type { Config } from '../config/config.ts'
import type { Address } from '../core/address.ts'
import type { Audio } from '../core/audio.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import { DEFAULT_FILE_LIMITS, type MediaStore, type ReadArrived } from '../core/media.ts'
import { redactEvent } from '../core/redact-dispatch.ts'
import { turnCapOf } from '../core/turn-cap.ts'
import type { Hooks } from '../hooks/hooks.ts'
import { asHooksLeave } from '../hooks/save-gate.ts'
import type { OwnMediaStore } from '../media/media-store.ts'
import { createReadArrived } from '../media/read-arrived.ts'
import { createFileAllowance } from '../pipeline/file-allowance.ts'
import { createPieceWaits } from '../pipeline/gather-pieces.ts'
import type { FilesDeps } from '../pipeline/read-files.ts'
import type { ThreadDeps } from '../pipeline/read-thread.ts'
import type { RunTurnDeps } from '../pipeline/run-turn.ts'
import { decideDispatch } from '../routing/decide-dispatch.ts'
import { refusedAgent } from '../sessions/service/choose-model.ts'
import type { Store } from '../store/store.ts'
import { convertPage } from '../web/convert-page.ts'
import type { DaemonEvents } from './daemon-events.ts'
import type { Lookups } from './lookups.ts'
import type { Budgets } from './make-budgets.ts'
import { createHear, isSpoken, type VoiceDeps } from './make-voice.ts'
import type { CurrentRouting } from './reload.ts'

interface TurnPortsDeps extends Pick<VoiceDeps, 'agent'> {
  readonly audio: Audio
  readonly budgets: Pick<Budgets, 'ofTurn' | 'ofRecording'> | undefined
  readonly config: Config
  readonly store: Pick<Store, 'read' | 'write'>
  readonly policies: CurrentRouting
  readonly lookups: Lookups
  readonly people: Pick<ThreadDeps, 'overheard'>
  readonly logger: Logger
  readonly clock: Clock
  readonly media: Pick<OwnMediaStore, 'drop'>
  /** The store that makes pictures small enough for models. */
  readonly pictures: MediaStore
  adapter(this: void, address: Pick<Address, 'channel' | 'account'>): ChannelAdapter | undefined
  /** Returns a text without the values of configured secrets. */
  redact(this: void, text: string): string
  readonly hooks: Pick<Hooks, 'has' | 'beforeSave'>
  readonly events: Pick<DaemonEvents, 'answerGrew'>
  /** Messages of a thread that are read before its first turn. */
  readonly most: number
}

type TurnPorts = Pick<
  RunTurnDeps,
  'charge' | 'cap' | 'refusesAgent' | 'verbose' | 'ownName' | 'pieces' | 'speaks' | 'answerGrew'
> &
  Pick<FilesDeps, 'files' | 'chargeRecording'> &
  Pick<ThreadDeps, 'logger' | 'channels' | 'readThread' | 'judge' | 'asStored' | 'overheard'>

/** Returns what a turn asks of its session, and of a thread that began before anybody addressed the agent in it. */
export function turnPorts(deps: TurnPortsDeps): TurnPorts {
  const { config, store, policies, lookups, people, logger, adapter, most, redact, budgets, hooks } = deps
  const voice = { audio: deps.audio, agent: deps.agent, overrides: lookups.overrides, read: store.read }
  return {
    charge: budgets?.ofTurn ?? notCharged,
    chargeRecording: budgets?.ofRecording ?? notCharged,
    refusesAgent: (session) => refusedAgent(config.agents, session),
    cap: (session) => turnCapOf(config.session.turnCap ?? {}, session),
    speaks: (turn) => isSpoken(voice, turn),
    ownName: ({ scope: { channel, account } }) => adapter({ channel, account })?.health().identity?.displayName,
    verbose: ({ id }) => lookups.overrides.of(id).verboseLevel,
    ...{ logger, channels: policies.routing().channels, overheard: people.overheard },
    judge: (dispatch) => decideDispatch(policies.routing(), lookups.facts, dispatch).decision,
    asStored: async (dispatch) => (hooks.has('before_save') ? asHooksLeave(dispatch, hooks.beforeSave) : dispatch),
    files: filePorts(deps),
    pieces: createPieceWaits(deps.clock),
    answerGrew: deps.events.answerGrew.emit,
    async readThread(address, before, signal) {
      const account = adapter(address)
      if (account === undefined || !readsThreads(account)) return undefined
      const read = await account.readThread({ address, before, most }, signal)
      return 'events' in read ? { ...read, events: read.events.map((event) => redactEvent(event, redact)) } : read
    },
  }
}

const notCharged = async (): Promise<undefined> => undefined

/** Returns the reader of files that came with messages, which reads pages as the web tools do. */
export function fileReader({
  pictures,
  clock,
  logger,
}: Pick<TurnPortsDeps, 'pictures' | 'clock' | 'logger'>): ReadArrived {
  return createReadArrived({ media: pictures, clock, logger, convertPage })
}

/** Returns how the files of messages are fetched and read. */
function filePorts(deps: TurnPortsDeps): FilesDeps['files'] {
  const { config, store, audio, clock, logger, media, pictures, hooks, adapter, redact } = deps
  const limits = config.media ?? DEFAULT_FILE_LIMITS
  return {
    ...{ limits, redact },
    allowance: createFileAllowance(clock, limits.perPersonPerDay),
    read: fileReader({ pictures, clock, logger }),
    async drop(ids) {
      await media.drop(ids)
      await store.write((tx) => tx.forgetting.forgetTranscripts(ids))
    },
    ...(hooks.has('before_save') ? { beforeSave: hooks.beforeSave } : {}),
    ...(audio.transcribe ? { hear: createHear({ transcribe: audio.transcribe, store, clock, logger }) } : {}),
    async fetch({ address, ref, most }, signal) {
      const account = adapter(address)
      if (account === undefined) return undefined
      if (!fetchesFiles(account)) return { kind: 'refused', reason: 'this channel gives no files' }
      return account.fetchFile({ ref, most: Math.min(most, account.mostFileBytes) }, signal)
    },
  }
}
