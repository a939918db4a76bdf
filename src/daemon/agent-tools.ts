import { askTool } from '../agent/tools/ask.ts'
import { BUILT_IN_GROUPS, type ToolGroup } from '../agent/tools/catalogue.ts'
import { memoryTools } from '../agent/tools/memory-tools.ts'
import { react } from '../agent/tools/react.ts'
import { sendFile } from '../agent/tools/send-file.ts'
import { sendMessage } from '../agent/tools/send-message.ts'
import { task } from '../agent/tools/task.ts'
import type { AsksPeople } from '../core/question.ts'
import type { DeliveryService } from '../delivery/delivery.ts'
import type { LongTerm } from '../memory/long-term.ts'
import { createReactions } from '../sessions/session-tools/react.ts'
import type { Store } from '../store/store.ts'
import type { SessionAccess } from './make-session-access.ts'

type Groups = Readonly<Record<string, ToolGroup>>

interface AgentToolsDeps {
  readonly questions: AsksPeople
  readonly store: Pick<Store, 'read'>
  readonly delivery: Pick<DeliveryService, 'react'>
  /** Further tools by group name. */
  readonly tools: Groups
}

/** Returns the tools by group name, besides the built-in groups. */
export function agentTools(
  { questions, store, delivery, tools }: AgentToolsDeps,
  { posts, files, tasks, sessionTools }: Pick<SessionAccess, 'posts' | 'files' | 'tasks' | 'sessionTools'>,
  longTerm: LongTerm,
): Groups {
  const reactions = createReactions({ read: store.read, put: delivery.react })
  const own = { message: [sendMessage(posts)], ask: [askTool(questions)], react: [react(reactions)] }
  const further = { files: [sendFile(files)], task: [task(tasks)], memory: memoryTools(longTerm, sessionTools) }
  return { ...own, ...further, ...tools }
}

/** Returns the names of all groups. */
export function groupNames({ tools }: { readonly tools: Groups }): readonly string[] {
  return [...BUILT_IN_GROUPS, 'message', 'files', 'ask', 'react', 'task', 'memory', ...Object.keys(tools)]
}
