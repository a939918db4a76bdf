/**
 * What is asked, in words; the matrix builds events from them and this page answers without looking at any code of
 * ours.
 */
export interface Case {
  readonly platform: 'telegram' | 'discord' | 'slack'
  readonly place: Place
  readonly sender: SenderKind
  readonly event: EventKind
  readonly policy: MatrixPolicy
}

export type Place = 'direct' | 'group direct' | 'group' | 'topic' | 'channel post' | 'thread'
export type SenderKind =
  | 'owner'
  | 'linked owner'
  | 'allowed'
  | 'linked member'
  | 'platform admin'
  | 'anonymous admin'
  | 'linked channel'
  | 'listed bot'
  | 'other bot'
  | 'webhook'
  | 'external team'
  | 'deleted account'
export type EventKind =
  | 'text'
  | 'mention'
  | 'mention of others'
  | 'reply to the bot'
  | 'wake word'
  | 'file'
  | 'nothing'
  | 'edit'
  | 'edit with mention'
  | 'delete'
  | 'reaction'
  | 'join'
  | 'command'
  | 'open command'
  | "owner's command"
  | 'unknown command'

export interface MatrixPolicy {
  readonly direct: 'owner' | 'allowlist' | 'public'
  /** Of the one group rule; undefined: there is no rule. */
  readonly groups:
    | {
        readonly who: 'owner' | 'allowlist' | 'public'
        readonly trigger: 'mention' | 'always' | 'never'
        readonly bots: 'ignore' | 'mentioned' | 'allow'
      }
    | undefined
  readonly ownerAlwaysTriggers: boolean
  readonly edits: 'ignore' | 'update' | 'rerun'
  readonly deletions: 'ignore' | 'redact'
  /** The send policy denies everything outside direct chats. */
  readonly silentGroups: boolean
}

/**
 * The rules, in the order in which they decide:
 *
 * 1. A deletion only takes away: it is honoured or not, whoever did it.
 * 2. Bots and webhooks are ignored in direct chats, and where the rule of the place says so. One whose id the rule does not
 *    list is context, with what it edits.
 * 3. Only an id gives authority: the owner's, also a linked one, a known person's, also a linked one. An admin of the
 *    platform, an anonymous admin, a channel, an account of another team and a deleted account are strangers.
 * 4. The owner may talk anywhere. Others may where the direct setting, or the group rule, admits them; without a rule
 *    nobody may. In direct chats a command that is open to all is answered to strangers too.
 * 5. Reactions and joins ask for nothing. Neither does an empty message.
 * 6. A command is run; one for the owner says nothing to others. Of bots it is a text, and so is one nobody knows.
 * 7. An edit is ignored or recorded; with `rerun` one that would be answered if it were new is answered, but not a bot's.
 * 8. Where the send policy denies, a text is stored.
 * 9. In direct chats every text is answered.
 * 10. In groups: never means never; a mention, a reply to the bot, a wake word and a command address it, of which only the
 *     first two count for bots; an owner needs none of them if the setting says so; who speaks to others is left alone;
 *     the rest is answered where everything is.
 */
export function expected(one: Case): string {
  const { place, sender, event, policy } = one
  if (event === 'delete') return policy.deletions === 'redact' ? 'amend/deleted' : 'ignore/deletions'
  if (BOTS.includes(sender)) return expectedOfBot(one)
  const refused = refusal(one)
  if (refused) return refused
  if (WORDLESS.includes(event)) return 'ignore/unsupported_event'
  if (event === 'nothing') return 'ignore/empty'
  if (event === "owner's command" && !OWNERS.includes(sender)) return 'ignore/command_for_owner'
  if (event === 'command' || event === 'open command' || event === "owner's command") return 'control/command'
  const fate = fateOfText(one, place === 'direct')
  return EDITS.includes(event) ? fateOfEdit(policy, fate) : fate
}

const OWNERS: readonly SenderKind[] = ['owner', 'linked owner']
const KNOWN: readonly SenderKind[] = ['allowed', 'linked member']
const BOTS: readonly SenderKind[] = ['listed bot', 'other bot', 'webhook']
const WORDLESS: readonly EventKind[] = ['reaction', 'join']
const EDITS: readonly EventKind[] = ['edit', 'edit with mention']
const ADDRESSED: readonly EventKind[] = ['mention', 'reply to the bot', 'edit with mention']
const ADDRESSED_BY_PEOPLE: readonly EventKind[] = [...ADDRESSED, 'wake word', 'unknown command']

function expectedOfBot(one: Case): string {
  const { place, event, policy } = one
  const { groups } = policy
  if (place === 'direct' || !groups || groups.bots === 'ignore') return 'ignore/bot'
  if (WORDLESS.includes(event)) return 'ignore/unsupported_event'
  if (event === 'nothing') return 'ignore/empty'
  if (EDITS.includes(event)) return policy.edits === 'ignore' ? 'ignore/edits' : 'amend/edited'
  if (policy.silentGroups) return 'context/send_policy'
  if (one.sender !== 'listed bot') return 'context/bot'
  return groups.trigger === 'never' ? 'context/trigger_never' : fateOfBot(one, groups)
}

function fateOfBot({ event }: Case, groups: NonNullable<MatrixPolicy['groups']>): string {
  if (ADDRESSED.includes(event)) return 'run/mentioned'
  if (groups.bots !== 'allow') return 'context/not_addressed'
  if (event === 'mention of others') return 'context/others_mentioned'
  return groups.trigger === 'always' ? 'run/trigger_always' : 'context/not_addressed'
}

function refusal({ place, sender, event, policy }: Case): string | undefined {
  if (OWNERS.includes(sender)) return undefined
  const known = KNOWN.includes(sender)
  if (place !== 'direct') {
    const who = policy.groups?.who
    return who === 'public' || (who === 'allowlist' && known) ? undefined : 'refuse/access'
  }
  if (policy.direct === 'public' || (policy.direct === 'allowlist' && known)) return undefined
  if (event === 'open command') return undefined
  return known ? 'refuse/access' : 'refuse/stranger'
}

function fateOfText({ sender, event, policy }: Case, direct: boolean): string {
  const { groups, ownerAlwaysTriggers, silentGroups } = policy
  if (direct) return 'run/direct'
  if (silentGroups) return 'context/send_policy'
  if (groups?.trigger === 'never') return 'context/trigger_never'
  if (event === 'wake word') return 'run/wake_word'
  if (ADDRESSED_BY_PEOPLE.includes(event)) return 'run/mentioned'
  const owner = OWNERS.includes(sender)
  if (owner && ownerAlwaysTriggers) return 'run/owner'
  if (event === 'mention of others' && !owner) return 'context/others_mentioned'
  return groups?.trigger === 'always' ? 'run/trigger_always' : 'context/not_addressed'
}

function fateOfEdit({ edits }: MatrixPolicy, asText: string): string {
  if (edits === 'ignore') return 'ignore/edits'
  return edits === 'rerun' && asText.startsWith('run/') ? asText : 'amend/edited'
}
