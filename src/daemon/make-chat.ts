import type { Config } from '../config/config.ts'
import { DEFAULT_FILE_LIMITS, type MediaStore } from '../core/media.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { OwnMediaStore } from '../media/media-store.ts'
import { createFileAllowance } from '../pipeline/file-allowance.ts'
import { decideDispatch } from '../routing/decide-dispatch.ts'
import { type ChatDesk, type ChatDeskDeps, createChatDesk } from '../sessions/service/chat-desk.ts'
import { createGrownTexts } from '../sessions/service/grown-texts.ts'
import { createRepeats, type KeyedRequestDeps } from '../sessions/service/keyed-requests.ts'
import { createResumeFailed, type ResumeFailedDeps } from '../sessions/turns/ask-again.ts'
import type { DaemonEvents } from './daemon-events.ts'
import type { Lookups } from './lookups.ts'
import type { Budgets } from './make-budgets.ts'
import type { CurrentRouting } from './reload.ts'
import { fileReader } from './turn-ports.ts'

export interface MakeChatDeps
  extends Pick<ChatDeskDeps, 'clock' | 'logger' | 'ids' | 'transcript' | 'runAgent' | 'sessions'>,
    Pick<ChatDeskDeps, 'agent' | 'place' | 'spentBeside'> {
  readonly config: Config
  readonly store: KeyedRequestDeps['store']
  readonly queue: ResumeFailedDeps['queue']
  readonly running: ChatDeskDeps['running'] & ResumeFailedDeps['running']
  readonly pipeline: Pick<ResumeFailedDeps, 'resume'>
  readonly policies: CurrentRouting
  readonly lookups: Lookups
  readonly budgets: Pick<Budgets, 'ofCommand'> | undefined
  readonly media: OwnMediaStore
  /** The store that makes pictures small enough for models. */
  readonly pictures: MediaStore
  readonly hooks: Pick<Hooks, 'has' | 'beforeSave'>
  readonly events: Pick<DaemonEvents, 'answerGrew'>
  /** Returns a text without the values of configured secrets. */
  redact(this: void, text: string): string
}

/** Returns the door for clients of OpenAI's API. */
export function makeChat(deps: MakeChatDeps): ChatDesk {
  const { config, store, policies, lookups, clock, budgets, media, pictures, hooks, events, redact } = deps
  const limits = config.media ?? DEFAULT_FILE_LIMITS
  const logger = deps.logger.child({ subsystem: 'chat' })
  const grown = createGrownTexts()
  events.answerGrew.on(grown.grew)
  return createChatDesk({
    ...{ ...deps, logger, grown, read: store.read, whoIs: lookups.whoIs, channels: policies.routing().channels },
    ...{ agents: config.agents, startedAt: clock.now(), repeats: createRepeats(deps) },
    resumeFailed: createResumeFailed({ ...deps, resume: deps.pipeline.resume }),
    decide: (dispatch) => decideDispatch(policies.routing(), lookups.facts, dispatch).decision,
    charge: (asked) => budgets?.ofCommand(asked),
    forgetFiles: (ids) => media.drop(ids),
    files: {
      ...{ limits, redact, allowance: createFileAllowance(clock, limits.perPersonPerDay) },
      read: fileReader({ pictures, clock, logger }),
      ...(hooks.has('before_save') ? { beforeSave: hooks.beforeSave } : {}),
    },
  })
}
