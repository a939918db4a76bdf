import { initial } from './0001-initial.ts'
import { schedules } from './0002-schedules.ts'
import { aliases } from './0003-aliases.ts'
import { mutes } from './0004-mutes.ts'
import { identity } from './0005-identity.ts'
import { hotRows } from './0006-hot-rows.ts'
import { chatMoves } from './0007-chat-moves.ts'
import { sessionLife } from './0008-session-life.ts'
import { privateAnswers } from './0009-private-answers.ts'
import { admissions } from './0010-admissions.ts'
import { messageKeys } from './0011-message-keys.ts'
import { strangers } from './0012-strangers.ts'
import { authors } from './0013-authors.ts'
import { ageing } from './0014-ageing.ts'
import { growingReplies } from './0015-growing-replies.ts'
import { restorations } from './0016-restorations.ts'
import { lowPriority } from './0017-low-priority.ts'
import { namedMessages } from './0018-named-messages.ts'
import { sessionSettings } from './0019-session-settings.ts'
import { cachedTokens } from './0020-cached-tokens.ts'
import { media } from './0021-media.ts'
import { deletedIds } from './0022-deleted-ids.ts'
import { summaries } from './0023-summaries.ts'
import { agentVersions } from './0024-agent-version.ts'
import { prechecks } from './0025-prechecks.ts'
import { approvals } from './0026-approvals.ts'
import { readers } from './0027-readers.ts'
import { cards } from './0028-cards.ts'
import { standingRules } from './0029-standing-rules.ts'
import { tasks } from './0030-tasks.ts'
import { questions } from './0031-questions.ts'
import { memory } from './0032-memory.ts'
import { sentFiles } from './0033-sent-files.ts'
import { transcripts } from './0034-transcripts.ts'
import { budgets } from './0035-budgets.ts'
import { forgetting } from './0036-forgetting.ts'
import { askedForOwners } from './0037-asked-for-owners.ts'
import { filesAndMarks } from './0038-files-and-marks.ts'
import { rulesOfAgents } from './0039-rules-of-agents.ts'
import { tokenScopes } from './0040-token-scopes.ts'
import { sessionLists } from './0041-session-lists.ts'
import { keyedRequests } from './0042-keyed-requests.ts'
import { tokenMakers } from './0043-token-makers.ts'
import { joinedSessions } from './0044-joined-sessions.ts'
import { quotingMessages } from './0045-quoting-messages.ts'
import { missedBudgets } from './0046-missed-budgets.ts'
import { spentBesideTurns } from './0047-spent-beside-turns.ts'
import { saidAt } from './0048-said-at.ts'
import { editsSaidAt } from './0049-edits-said-at.ts'
import { spokenWordsSearched } from './0050-spoken-words-searched.ts'
import type { Migration } from './migration.ts'

/** Every migration there is, in order. */
export const MIGRATIONS: readonly Migration[] = [
  initial,
  schedules,
  aliases,
  mutes,
  identity,
  hotRows,
  chatMoves,
  sessionLife,
  privateAnswers,
  admissions,
  messageKeys,
  strangers,
  authors,
  ageing,
  growingReplies,
  restorations,
  lowPriority,
  namedMessages,
  sessionSettings,
  cachedTokens,
  media,
  deletedIds,
  summaries,
  agentVersions,
  prechecks,
  approvals,
  readers,
  cards,
  standingRules,
  tasks,
  questions,
  memory,
  sentFiles,
  transcripts,
  budgets,
  forgetting,
  askedForOwners,
  filesAndMarks,
  rulesOfAgents,
  tokenScopes,
  sessionLists,
  keyedRequests,
  tokenMakers,
  joinedSessions,
  quotingMessages,
  missedBudgets,
  spentBesideTurns,
  saidAt,
  editsSaidAt,
  spokenWordsSearched,
]
