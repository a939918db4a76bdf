import type { FaultCase } from './fault-case.ts'

const CLOCK: readonly FaultCase[] = [
  { code: 'F-E01', what: 'A time of day that the spring change skips: run once, as much later.' },
  { code: 'F-E02', what: 'A time of day that the autumn change repeats: run once.' },
  { code: 'F-E03', what: 'Every quarter of an hour over both changes: neither a pause nor a double.' },
  { code: 'F-E04', what: 'A machine that slept over slots: each is skipped, run once or caught up as set.' },
  { code: 'F-E05', what: 'A clock that is set: no slot twice, and no wait changes.' },
  { code: 'F-E06', what: 'A daemon that was down over slots: as F-E04.' },
  { code: 'F-E07', what: 'A start right after a slot ran: it is not run again.' },
  { code: 'F-E08', what: 'Killed at the claim or in the run of a slot: resumed or marked, never run twice.' },
  { code: 'F-E09', what: 'Two claims of one slot: one run.' },
  { code: 'F-E11', what: 'A schedule that is changed or removed: the old one never runs.' },
  { code: 'F-E13', what: 'A clock that is set back ten times around a slot: it runs once.' },
  { code: 'F-E14', what: 'Days that not every month or year has: as the table says.' },
  { code: 'F-E15', what: 'A configuration read ten times: as many schedules as it names.' },
]

const PEOPLE: readonly FaultCase[] = [
  { code: 'F-H01', what: 'Every sender, kind of place, kind of event and policy: exactly what the rules say.' },
  { code: 'F-H02', what: "A name equal to the owner's: refused." },
  { code: 'F-H03', what: 'A username that passes to another account: authority stays with the id.' },
  { code: 'F-H04', what: 'The same user id in another workspace: somebody else.' },
  { code: 'F-H06', what: 'Empty, blank and unset lists: nobody is admitted, and a wildcard makes no owner.' },
  {
    code: 'F-H07',
    what: 'An approval by the wrong person, twice, late or with changed arguments: never carried out.',
  },
  { code: 'F-H09', what: 'A token of one namespace against names that resemble it: its own sessions alone.' },
  {
    code: 'F-H10',
    what: 'A token that is revoked while a stream runs: closed within 5 s.',
  },
  { code: 'F-H11', what: 'Two topics, and one that is made anew: nothing crosses.' },
  { code: 'F-H12', what: 'A link code that was seen, used, is late or belongs to another: refused; a link is whole.' },
  { code: 'F-H13', what: 'An id that is parted and given to another person: authority follows at once.' },
  { code: 'F-H14', what: 'A changed configuration: what it widens is said.' },
]

const INJECTION: readonly FaultCase[] = [
  {
    code: 'F-I01',
    what: 'An obedient model that strangers command: each call beyond their reach is denied.',
  },
  { code: 'F-I02', what: 'Commands in quotes, names and histories: data, and the words of whoever wrote them.' },
  { code: 'F-I03', what: 'A message from another session: labelled, without authority, answered where it came from.' },
  { code: 'F-I06', what: 'Data carried out by addresses and previews: no request leaves for another host.' },
  { code: 'F-I07', what: 'Private addresses in every spelling: no connection.' },
  { code: 'F-I09', what: 'Paths and links in attachments: nothing outside of the store.' },
  { code: 'F-I10', what: 'Mentions of everybody in a text of the model: nobody is pinged.' },
  { code: 'F-I11', what: 'The text of a command within a quote, a forward or an output: never carried out.' },
  { code: 'F-I12', what: 'Cost caused by one person or many groups: stopped at the budget.' },
]

const SECRETS: readonly FaultCase[] = [
  { code: 'F-J01', what: 'Secrets in any setting: none in a log or an error.' },
  { code: 'F-J02', what: 'A failing call whose address holds the token: the token is absent.' },
  { code: 'F-J04', what: 'Every route with configuration or status: references alone.' },
  {
    code: 'F-J05',
    what: 'Modes of files, sockets and copies: for their owner alone.',
    waitsFor: 'a test that holds all of them; each is tested where it is made',
  },
  { code: 'F-J06', what: 'Arguments and environment: no secret.' },
  {
    code: 'F-J07',
    what: 'Causes within causes and errors nobody caught: no secret.',
    waitsFor: 'a test that holds all paths of an error',
  },
]

const OPERATION: readonly FaultCase[] = [
  { code: 'F-K01', what: 'Every route with every kind of token: denied by default.' },
  { code: 'F-K02', what: 'Foreign hosts and origins: refused.' },
  { code: 'F-K03', what: 'Requests by a page of another site: refused.' },
  { code: 'F-K04', what: 'A token in an address: refused and not logged.' },
  { code: 'F-K05', what: 'A webhook with a wrong signature or secret: turned away without any work.' },
  { code: 'F-K06', what: 'Headers that claim an origin: no trust by address.' },
  { code: 'F-K07', what: 'Idle connections and slow requests of strangers: bounded.' },
  { code: 'F-K08', what: 'One request twice under one key: one effect.' },
  { code: 'F-K09', what: 'A stream resumed over restarts: no gap, no repeat.' },
  { code: 'F-K10', what: 'The unit of systemd: its exposure is at most 2.0.' },
  {
    code: 'F-K11',
    what: 'A blocked loop and a stuck database: restarted; a platform that is down: not.',
    waitsFor: 'a test of its own; the watchdog is tested under test/platform',
  },
  { code: 'F-K12', what: 'A connection that looks well and brings nothing: noticed and made anew.' },
  { code: 'F-K13', what: 'A configuration with a mistake at a reload: the old one stays.' },
]

/** The cases of time, permissions, injection, secrets and operation. */
export const ABUSE: readonly FaultCase[] = [...CLOCK, ...PEOPLE, ...INJECTION, ...SECRETS, ...OPERATION]
