import { textOf } from '../../../core/content.ts'
import { inWords } from '../../../core/content-words.ts'
import type { ErrorCode } from '../../../core/errors.ts'
import type { ModelMessage } from '../../../core/model.ts'
import { untagged } from './echo.ts'

/** A script file as read; `load-script.ts` describes the format. */
export interface Script {
  readonly rules: readonly ScriptRule[]
}

interface ScriptRule {
  readonly contains?: string
  readonly matches?: RegExp
  readonly steps: readonly ScriptStep[]
}

/** One model call. Text comes first, then calls; a failure or stall comes after the text. */
export interface ScriptStep {
  readonly text?: string
  readonly chunk?: number
  readonly delayMs?: number
  readonly silence?: boolean
  readonly calls?: readonly ScriptCall[]
  readonly stop?: 'length' | 'refused'
  readonly fail?: ErrorCode
  readonly stallMs?: number
}

interface ScriptCall {
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
}

/** The step that answers these messages, with `{{user}}` and `{{result}}` filled in; undefined if no rule matches. */
export function chooseStep(script: Script, messages: readonly ModelMessage[]): ScriptStep | undefined {
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const asked = messages[at]
  const user = untagged(asked?.role === 'user' ? textOf(asked.content) : '')
  const rule = script.rules.find((candidate) => applies(candidate, user))
  const played = messages.slice(at + 1).filter(({ role }) => role === 'assistant').length
  const step = rule?.steps[Math.min(played, rule.steps.length - 1)]
  if (step?.text === undefined) return step
  return {
    ...step,
    text: step.text.replaceAll('{{user}}', () => user).replaceAll('{{result}}', () => lastResult(messages)),
  }
}

function applies({ contains, matches }: ScriptRule, user: string): boolean {
  if (contains !== undefined && !user.toLowerCase().includes(contains.toLowerCase())) return false
  return matches === undefined || matches.test(user)
}

function lastResult(messages: readonly ModelMessage[]): string {
  const last = messages.findLast((message) => message.role === 'tool')
  return inWords(last?.results.at(-1)?.content ?? [])
}
