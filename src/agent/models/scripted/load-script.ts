import { constants } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import * as z from 'zod'
import { type ErrorCode, ParleyError, toError } from '../../../core/errors.ts'
import type { Script } from './script.ts'

const MODEL_FAILURES = [
  'model_auth',
  'model_no_credit',
  'model_overloaded',
  'model_stalled',
  'model_refused',
  'model_context_length',
  'model_invalid_request',
  'model_bad_call',
  'model_failed',
] as const satisfies readonly ErrorCode[]

const stepSchema = z.strictObject({
  text: z.string().optional(),
  chunk: z.int().positive().optional(),
  delayMs: z.int().nonnegative().optional(),
  silence: z.literal(true).optional(),
  calls: z
    .array(z.strictObject({ tool: z.string().min(1), args: z.record(z.string(), z.unknown()).default({}) }))
    .optional(),
  stop: z.enum(['length', 'refused']).optional(),
  fail: z.enum(MODEL_FAILURES).optional(),
  stallMs: z.int().positive().optional(),
})

const scriptSchema = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        when: z
          .strictObject({ contains: z.string().min(1).optional(), matches: z.string().transform(toPattern).optional() })
          .default({}),
        steps: z.array(stepSchema).min(1),
      }),
    )
    .min(1),
})

/**
 * Reads a script in YAML or JSON:
 *
 * ```yaml
 * rules:                                  # the first that matches the newest user text answers
 *   - when: { contains: weather }         # without case; or { matches: '^how (much|many)' }, a regular expression
 *     steps:                              # one per model call of the turn; the last one repeats
 *       - text: Let me look.
 *         calls: [{ tool: current_time, args: { timezone: Europe/Berlin } }]
 *       - text: 'You said {{user}}; the tool said {{result}}'
 *         chunk: 4                        # characters per delta; absent: all at once
 *         delayMs: 50                     # before each delta
 *   - when: { contains: hush }
 *     steps: [{ silence: true }]          # <NO_REPLY>
 *   - when: { contains: broken }
 *     steps: [{ text: 'Half a', fail: model_overloaded }]     # after the text; or stallMs, then model_stalled
 *   - steps: [{ text: 'Cut of', stop: length }]               # no `when`: always; or stop: refused
 * ```
 *
 * A text said to the running turn starts its own rule. Throws `config` naming the file and the path of the mistake.
 */
export async function loadScript(file: string): Promise<Script> {
  const parsed = scriptSchema.safeParse(await readYaml(file), { reportInput: false })
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `${pathText(path)}: ${message}`)
    throw new ParleyError('config', `The script ${file} is not valid. ${faults.join('; ')}`)
  }
  return { rules: parsed.data.rules.map(({ when, steps }) => ({ ...dropUnset(when), steps: steps.map(dropUnset) })) }
}

async function readYaml(file: string): Promise<unknown> {
  try {
    // A pipe into which nobody writes would hold the start for ever; so opened it is an empty file.
    return parse(await readFile(file, { encoding: 'utf8', flag: constants.O_RDONLY | constants.O_NONBLOCK }))
  } catch (cause) {
    throw new ParleyError('config', `The script ${file} cannot be read: ${toError(cause).message}`, { cause })
  }
}

function toPattern(source: string, context: z.RefinementCtx): RegExp {
  try {
    return new RegExp(source, 'iu')
  } catch (error) {
    context.addIssue({ code: 'custom', message: toError(error).message })
    return z.NEVER
  }
}

function pathText(path: readonly PropertyKey[]): string {
  const text = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('')
  return text.replace(/^\./, '') || 'file'
}

type Given<T> = { [K in keyof T]: Exclude<T[K], undefined> }

/** Leaves out what the file left out. */
function dropUnset<T extends object>(value: T): Given<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Given<T>
}
