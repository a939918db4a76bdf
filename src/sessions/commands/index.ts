import type { Address } from '../../core/address.ts'
import type { ApprovalDesk } from '../../core/approval.ts'
import type { CardKeeper } from '../../core/card-keeper.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Clock } from '../../core/clock.ts'
import type { ChatCommand } from '../../core/command.ts'
import type { Identity } from '../../core/dispatch.ts'
import type { IdSource, PersonId } from '../../core/ids.ts'
import type { OperatorService } from '../../core/operator.ts'
import type { QuestionDesk } from '../../core/question.ts'
import type { Store } from '../../store/store.ts'
import type { ChatMoves } from '../lookups/chat-moves.ts'
import type { Mutes } from '../lookups/mutes.ts'
import type { OverridesCache } from '../lookups/overrides-cache.ts'
import type { Access } from '../people/access.ts'
import type { Admissions } from '../people/admissions.ts'
import type { Links } from '../people/links.ts'
import type { Compaction } from '../service/compaction.ts'
import type { SessionService } from '../service/session-service.ts'
import type { AskAside } from '../service/side-question.ts'
import type { AnswerAgain } from '../turns/ask-again.ts'
import { roomOf } from '../turns/room-of.ts'
import type { RunningTurns } from '../turns/running-turns.ts'
import type { TakeBackPorts } from '../turns/take-back.ts'
import { admitCommand, denyCommand } from './admit.ts'
import { answerCommand } from './answer.ts'
import { approvalsCommand, approveCommand } from './approve.ts'
import { type BudgetCommandDeps, budgetCommand } from './budget.ts'
import { compactCommand } from './compact.ts'
import { type ForgetCommandDeps, forgetCommand } from './forget.ts'
import { helpCommand } from './help.ts'
import { linkCommand } from './link.ts'
import { type MemoryCommandDeps, memoryCommands } from './memory.ts'
import { type MuteCommandDeps, muteCommand } from './mute.ts'
import { type NewCommandDeps, newCommand } from './new.ts'
import { outboxCommand } from './outbox.ts'
import { type RemindDeps, remindCommand } from './remind.ts'
import { resumeCommand } from './resume.ts'
import { retryCommand } from './retry.ts'
import { sessionsCommand } from './sessions.ts'
import { settingCommands } from './setting-commands.ts'
import { type SideCommandDeps, sideCommand } from './side.ts'
import { claimCommand, startCommand } from './start.ts'
import { statusCommand } from './status.ts'
import { stopCommand } from './stop.ts'
import { titleCommand } from './title.ts'
import { undoCommand } from './undo.ts'
import { unlinkCommand } from './unlink.ts'
import { usageCommand } from './usage.ts'
import { whoamiCommand } from './whoami.ts'
import { type WhyDeps, whyCommand } from './why.ts'

type ClosesCards = Pick<CardKeeper, 'closeIfOver'>

export interface SessionCommandDeps extends RemindDeps {
  readonly budgets: (BudgetCommandDeps['budgets'] & SideCommandDeps['budgets']) | undefined
  readonly memory: MemoryCommandDeps['memory'] & NewCommandDeps['memory']
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly channels: Channels
  readonly access: Access
  readonly mutes: Mutes
  readonly links: Links
  readonly admissions: Admissions
  readonly approvals: ApprovalDesk & ClosesCards
  readonly approvers: readonly PersonId[]
  readonly questions: QuestionDesk & ClosesCards
  readonly unsay: TakeBackPorts['unsay']
  readonly moves: Pick<ChatMoves, 'follow'>
  /** Returns the present identity of a platform id. */
  whoIs(platformId: string): Identity
  readonly running: RunningTurns
  readonly compact: Compaction['compact']
  readonly askAside: AskAside
  readonly forgetting: ForgetCommandDeps['forgetting']
  readonly idsOf: ForgetCommandDeps['idsOf']
  readonly zoneOf: ForgetCommandDeps['zoneOf']
  readonly readEnd: MuteCommandDeps['readEnd']
  readonly answerAgain: AnswerAgain
  readonly overrides: OverridesCache
  readonly sessions: Pick<SessionService, 'patch'>
  readonly operator: Pick<OperatorService, 'status' | 'outbox'>
  readonly why: Pick<WhyDeps, 'unseen' | 'readLink'>
  /** Returns all commands, for `/help`. */
  all(): readonly ChatCommand[]
}

/**
 * Returns the commands that the session stage answers without a model call and without waiting behind a turn. Each has
 * a file and asks for the ports it uses.
 */
export function sessionCommands(deps: SessionCommandDeps): readonly ChatCommand[] {
  const { approvals, questions } = deps
  const closeIfOver = (code: string): void => [approvals, questions].forEach((one) => void one.closeIfOver(code))
  const takingBack = { closeIfOver, roomOf: (address: Address) => roomOf(deps, address) }
  return [
    startCommand(deps),
    claimCommand(deps),
    helpCommand(deps),
    whoamiCommand(deps),
    linkCommand(deps),
    unlinkCommand(deps),
    admitCommand(deps),
    denyCommand(deps),
    approveCommand(deps),
    approvalsCommand(deps),
    answerCommand(deps),
    statusCommand(deps),
    outboxCommand(deps.operator.outbox, deps.zoneOf),
    usageCommand(deps),
    budgetCommand(deps),
    newCommand(deps),
    compactCommand(deps),
    sideCommand(deps),
    stopCommand(deps),
    undoCommand({ ...deps, ...takingBack }),
    retryCommand({ ...deps, ...takingBack }),
    forgetCommand({ ...deps, readLink: deps.why.readLink }),
    titleCommand(deps),
    sessionsCommand(deps),
    resumeCommand(deps),
    muteCommand(deps),
    remindCommand(deps),
    ...memoryCommands(deps),
    ...settingCommands(deps),
    whyCommand({ ...deps, ...deps.why }),
  ]
}
