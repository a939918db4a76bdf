import type { TraceStep } from '../core/dispatch.ts'
import type { DeletionPolicy, EditPolicy, GroupRule, RoutingPolicy } from '../core/policy.ts'
import { pass, stop } from './trace.ts'
import { compileWakeWords, type WakeWord } from './wake-words.ts'

/** The settings for the chats of a group rule, or for those without a rule. Each setting knows its path. */
export interface ChatSettings {
  readonly ownerTriggers: { readonly on: boolean; readonly path: string; readonly step: TraceStep }
  readonly wake: { readonly words: readonly WakeWord[]; readonly path: string }
  /** The trace step for a followed thread; undefined if none is followed. */
  readonly follows: TraceStep | undefined
  readonly edits: { readonly policy: EditPolicy; readonly step: TraceStep }
  readonly deletions: { readonly policy: DeletionPolicy; readonly step: TraceStep }
}

/** Direct chats, and groups without a rule. */
export function commonSettings({ ownerAlwaysTriggers, wakeWords, edits, deletions }: RoutingPolicy): ChatSettings {
  return {
    ownerTriggers: ownerTriggers(ownerAlwaysTriggers, 'routing.ownerAlwaysTriggers'),
    wake: { words: compileWakeWords(wakeWords), path: 'routing.wakeWords' },
    follows: undefined,
    edits: editSetting(edits, 'routing.edits'),
    deletions: deletionSetting(deletions, 'routing.deletions'),
  }
}

/** Returns the rule's settings; those it does not set are the common ones. */
export function ruleSettings(rule: GroupRule, path: string, common: ChatSettings): ChatSettings {
  const { ownerAlwaysTriggers, wakeWords, followThreads, edits, deletions } = rule
  return {
    ownerTriggers:
      ownerAlwaysTriggers === undefined
        ? common.ownerTriggers
        : ownerTriggers(ownerAlwaysTriggers, `${path}.ownerAlwaysTriggers`),
    wake: wakeWords === undefined ? common.wake : { words: compileWakeWords(wakeWords), path: `${path}.wakeWords` },
    follows: followThreads ? pass('group-rule', 'a thread the bot is part of', `${path}.followThreads`) : undefined,
    edits: edits === undefined ? common.edits : editSetting(edits, `${path}.edits`),
    deletions: deletions === undefined ? common.deletions : deletionSetting(deletions, `${path}.deletions`),
  }
}

function ownerTriggers(on: boolean, path: string): ChatSettings['ownerTriggers'] {
  return { on, path, step: pass('group-rule', 'an owner, not addressing the bot', path) }
}

/** Neither an edit nor a deletion owes a turn by itself: the step stops either way. */
function editSetting(policy: EditPolicy, path: string): ChatSettings['edits'] {
  return { policy, step: stop('group-rule', `edits: ${policy}`, path) }
}

function deletionSetting(policy: DeletionPolicy, path: string): ChatSettings['deletions'] {
  return { policy, step: stop('group-rule', `deletions: ${policy}`, path) }
}
