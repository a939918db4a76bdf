import { formatAddress } from '../core/address.ts'
import type { Decided, Dispatch } from '../core/dispatch.ts'
import type { BeforeSave } from '../core/hook.ts'
import type { InboundText } from '../core/message.ts'
import type { Hooks } from './hooks.ts'

type Decide = (dispatch: Dispatch) => Decided

/**
 * Returns `decide` with the hooks of `before_save` behind it: they are asked about each message that a session will
 * have, and what they answer is stored. The messages of a chat keep their order: one waits until those before it have
 * passed. Commands, such as `/stop`, are of no session and wait for nothing. Never rejects because of a hook.
 */
export function saveGate(
  decide: Decide,
  { has, beforeSave }: Pick<Hooks, 'has' | 'beforeSave'>,
): (dispatch: Dispatch) => Decided | Promise<Decided> {
  if (!has('before_save')) return decide
  const passing = new Map<string, Promise<Dispatch>>()
  return async (received) => {
    const { dispatch, decision } = decide(received)
    if (decision.kind !== 'run' && decision.kind !== 'context' && decision.kind !== 'amend')
      return { dispatch, decision }
    const { topic: _topic, ...chat } = dispatch.event.address
    const key = formatAddress(chat)
    const before = passing.get(key)
    const asked = changed(dispatch, beforeSave)
    const stored = before === undefined ? asked : before.then(() => asked)
    passing.set(key, stored)
    void stored.finally(() => {
      if (passing.get(key) === stored) passing.delete(key)
    })
    return { dispatch: await stored, decision }
  }
}

async function changed(dispatch: Dispatch, beforeSave: Hooks['beforeSave']): Promise<Dispatch> {
  const { event } = dispatch
  if (event.kind !== 'message' && event.kind !== 'edit' && event.kind !== 'command') return dispatch
  const { quoted, text: raw } = event
  const given = callOf(event)
  const text = raw === '' ? raw : await beforeSave({ ...given, text: raw })
  const quote = quoted?.text ? await beforeSave({ ...given, text: quoted.text }) : quoted?.text
  if (text === raw && quote === quoted?.text) return dispatch
  const requoted = quoted === undefined || quote === undefined ? {} : { quoted: { ...quoted, text: quote } }
  return { ...dispatch, event: { ...event, text, ...requoted }, ...(text === raw ? {} : { raw }) }
}

function callOf({ kind, address, sender: { id, displayName: name } }: InboundText): Omit<BeforeSave, 'text'> {
  const sender = { id, ...(name === undefined ? {} : { name }) }
  return { on: 'before_save', conversation: formatAddress(address), sender, edit: kind === 'edit' }
}
