import { type Address, formatAddress } from '../core/address.ts'
import type { Decided, Dispatch } from '../core/dispatch.ts'
import type { BeforeSave } from '../core/hook.ts'
import type { InboundText } from '../core/message.ts'
import type { Hooks } from './hooks.ts'

type Decide = (dispatch: Dispatch) => Decided

/**
 * Returns `decide` with the hooks of `before_save` behind it: they are asked about each message that a session will
 * have, and what they answer is stored. The messages of a chat keep their order: one waits until those before it have
 * passed, under the id that the chat had before as well; so does the notice that somebody has left. Commands, such as
 * `/stop`, wait for nothing, unless a model is shown their words, or they are about the last message. Never rejects
 * because of a hook.
 */
export function saveGate(
  decide: Decide,
  { has, beforeSave }: Pick<Hooks, 'has' | 'beforeSave'>,
  formerChat: (channel: string, chat: string) => string | undefined,
): (dispatch: Dispatch) => Decided | Promise<Decided> {
  if (!has('before_save')) return decide
  const passing = new Map<string, Promise<Dispatch>>()
  const lastOf = ({ topic: _topic, ...chat }: Address): Promise<Dispatch> | undefined => {
    const former = formerChat(chat.channel, chat.chat)
    const before = former === undefined ? undefined : passing.get(formatAddress({ ...chat, chat: former }))
    return passing.get(formatAddress(chat)) ?? before
  }
  return async (received) => {
    const { dispatch, decision } = decide(received)
    const { topic: _topic, ...chat } = dispatch.event.address
    const key = formatAddress(chat)
    const before = lastOf(dispatch.event.address)
    if (decision.kind === 'control') {
      if (ABOUT_THE_LAST.has(decision.command)) await before
      return { dispatch: await withoutOrder(dispatch, decision.command, beforeSave), decision }
    }
    if (dispatch.event.kind === 'departure') await before
    if (decision.kind !== 'run' && decision.kind !== 'context' && decision.kind !== 'amend')
      return { dispatch, decision }
    const asked = asHooksLeave(dispatch, beforeSave)
    const stored = before === undefined ? asked : before.then(() => asked)
    passing.set(key, stored)
    void stored.finally(() => {
      if (passing.get(key) === stored) passing.delete(key)
    })
    return { dispatch: await stored, decision }
  }
}

/** They are about what was written before them, of which the last message may not have passed yet. */
const ABOUT_THE_LAST: ReadonlySet<string> = new Set(['undo', 'retry', 'forget'])

/** The commands whose words a model is shown, at once or later, each with what stands before them. */
const SHOWN: Readonly<Record<string, RegExp>> = {
  side: /^/,
  answer: /^\s*\S+\s*/,
  remember: /^/,
  memory: /^\s*correct\s+#?\d+\s+/i,
  title: /^/,
  remind: /^(?!\s*(?:list|cancel)\b)/i,
}

/** Returns a command with what the hooks make of its words, where a model is shown them; it keeps no order. */
async function withoutOrder(dispatch: Dispatch, name: string, beforeSave: Hooks['beforeSave']): Promise<Dispatch> {
  const { event } = dispatch
  const before = Object.hasOwn(SHOWN, name) && event.kind === 'command' ? SHOWN[name]?.exec(event.args)?.[0] : undefined
  if (event.kind !== 'command' || before === undefined) return dispatch
  const raw = event.args.slice(before.length)
  // A choice by its number is no words.
  const words = /^\s*(?:\d{1,3}\s*)?$/.test(raw) ? raw : await beforeSave({ ...callOf(event), text: raw })
  return words === raw
    ? dispatch
    : { ...dispatch, event: { ...event, args: before + words, text: `/${name} ${before}${words}` } }
}

/** Returns a message with its texts as the hooks of `before_save` leave them. */
export async function asHooksLeave(dispatch: Dispatch, beforeSave: Hooks['beforeSave']): Promise<Dispatch> {
  const { event } = dispatch
  if (event.kind !== 'message' && event.kind !== 'edit' && event.kind !== 'command') return dispatch
  const { quoted, forwarded, text: raw } = event
  const given = callOf(event)
  const text = raw === '' ? raw : await beforeSave({ ...given, text: raw })
  const quote = quoted?.text ? await beforeSave({ ...given, text: quoted.text }) : quoted?.text
  const passed = forwarded?.text ? await beforeSave({ ...given, text: forwarded.text }) : forwarded?.text
  const lines: string[] = []
  for (const line of event.enclosed ?? []) lines.push(await beforeSave({ ...given, text: line, of: 'enclosed' }))
  const isSame = lines.every((line, at) => line === event.enclosed?.[at])
  if (isSame && text === raw && quote === quoted?.text && passed === forwarded?.text) return dispatch
  const enclosed = isSame ? {} : { enclosed: lines }
  const requoted = quoted === undefined || quote === undefined ? {} : { quoted: { ...quoted, text: quote } }
  const repassed = forwarded === undefined || passed === undefined ? {} : { forwarded: { ...forwarded, text: passed } }
  return {
    ...dispatch,
    event: { ...event, text, ...enclosed, ...requoted, ...repassed },
    ...(text === raw ? {} : { raw }),
  }
}

function callOf({ kind, address, sender: { id, displayName: name } }: InboundText): Omit<BeforeSave, 'text'> {
  const sender = { id, ...(name === undefined ? {} : { name }) }
  return { on: 'before_save', conversation: formatAddress(address), sender, edit: kind === 'edit' }
}
