import { AdmissionReading, AdmissionWriting } from './admissions.ts'
import { AgeingReading, AgeingWriting } from './ageing.ts'
import { AliasReading, AliasWriting } from './aliases.ts'
import { ApprovalReading, ApprovalWriting } from './approvals.ts'
import { AuthorReading, AuthorWriting } from './authors.ts'
import { BudgetReading, BudgetWriting } from './budgets.ts'
import { CardReading, CardWriting } from './cards.ts'
import { ChannelStateReading, ChannelStateWriting } from './channel-state.ts'
import { ChatMoveReading, ChatMoveWriting } from './chat-moves.ts'
import { CheckpointReading, CheckpointWriting } from './checkpoints.ts'
import { EventReading } from './event-reading.ts'
import { EventWriting } from './events.ts'
import { ForgettingReading } from './forgetting-reading.ts'
import { ForgettingWriting } from './forgettings.ts'
import { InboxReading, InboxWriting } from './inbox.ts'
import { KeyedRequestReading, KeyedRequestWriting } from './keyed-requests.ts'
import { MediaUseReading } from './media-uses.ts'
import { MemoryReading, MemoryWriting } from './memory.ts'
import { MuteReading, MuteWriting } from './mutes.ts'
import { NoticeWriting } from './notices.ts'
import { OutboxReading, OutboxWriting } from './outbox.ts'
import { ParticipantReading, ParticipantWriting } from './participants.ts'
import { PeopleReading, PeopleWriting } from './people.ts'
import { QuestionReading, QuestionWriting } from './questions.ts'
import { RestorationReading, RestorationWriting } from './restorations.ts'
import { ScheduleReading, ScheduleWriting } from './schedules.ts'
import { SearchReading, SearchWriting } from './search.ts'
import { SessionListReading } from './session-lists.ts'
import { SessionReading, SessionWriting } from './sessions.ts'
import type { RepositoryDeps, WriteDeps } from './sql.ts'
import { StandingRuleReading, StandingRuleWriting } from './standing-rules.ts'
import type { StoreReader, StoreWriter } from './store.ts'
import { TokenReading, TokenWriting } from './tokens.ts'
import { TranscriptReading, TranscriptWriting } from './transcripts.ts'
import { TurnReading, TurnWriting } from './turns.ts'

/** Every repository over the committed data. */
export function storeReader(ground: RepositoryDeps): StoreReader {
  return {
    ageing: new AgeingReading(ground),
    approvals: new ApprovalReading(ground),
    budgets: new BudgetReading(ground),
    cards: new CardReading(ground),
    questions: new QuestionReading(ground),
    standingRules: new StandingRuleReading(ground),
    sessions: new SessionReading(ground),
    lists: new SessionListReading(ground),
    aliases: new AliasReading(ground),
    chatMoves: new ChatMoveReading(ground),
    events: new EventReading(ground),
    forgetting: new ForgettingReading(ground),
    media: new MediaUseReading(ground),
    inbox: new InboxReading(ground),
    turns: new TurnReading(ground),
    outbox: new OutboxReading(ground),
    people: new PeopleReading(ground),
    admissions: new AdmissionReading(ground),
    channelState: new ChannelStateReading(ground),
    schedules: new ScheduleReading(ground),
    mutes: new MuteReading(ground),
    participants: new ParticipantReading(ground),
    authors: new AuthorReading(ground),
    tokens: new TokenReading(ground),
    keyedRequests: new KeyedRequestReading(ground),
    transcripts: new TranscriptReading(ground),
    restorations: new RestorationReading(ground),
    memory: new MemoryReading(ground),
    checkpoints: new CheckpointReading(ground),
    search: new SearchReading(ground),
  }
}

/** Every repository inside one transaction. Each is made when a body asks for it: most use two or three. */
export class RepositoryWriter implements StoreWriter {
  readonly #ground: WriteDeps

  constructor(ground: WriteDeps) {
    this.#ground = ground
  }

  afterCommit(tell: () => void): void {
    this.#ground.sql.afterCommit(tell)
  }

  afterUndo(takeBack: () => void): void {
    this.#ground.sql.afterUndo(takeBack)
  }

  get ageing(): AgeingWriting {
    return new AgeingWriting(this.#ground)
  }

  get approvals(): ApprovalWriting {
    return new ApprovalWriting(this.#ground)
  }

  get budgets(): BudgetWriting {
    return new BudgetWriting(this.#ground)
  }

  get cards(): CardWriting {
    return new CardWriting(this.#ground)
  }

  get questions(): QuestionWriting {
    return new QuestionWriting(this.#ground)
  }

  get standingRules(): StandingRuleWriting {
    return new StandingRuleWriting(this.#ground)
  }

  get sessions(): SessionWriting {
    return new SessionWriting(this.#ground)
  }

  get aliases(): AliasWriting {
    return new AliasWriting(this.#ground)
  }

  get chatMoves(): ChatMoveWriting {
    return new ChatMoveWriting(this.#ground)
  }

  get events(): EventWriting {
    return new EventWriting(this.#ground)
  }

  get forgetting(): ForgettingWriting {
    return new ForgettingWriting(this.#ground)
  }

  get inbox(): InboxWriting {
    return new InboxWriting(this.#ground)
  }

  get turns(): TurnWriting {
    return new TurnWriting(this.#ground)
  }

  get outbox(): OutboxWriting {
    return new OutboxWriting(this.#ground)
  }

  get admissions(): AdmissionWriting {
    return new AdmissionWriting(this.#ground)
  }

  get people(): PeopleWriting {
    return new PeopleWriting(this.#ground)
  }

  get channelState(): ChannelStateWriting {
    return new ChannelStateWriting(this.#ground)
  }

  get notices(): NoticeWriting {
    return new NoticeWriting(this.#ground)
  }

  get schedules(): ScheduleWriting {
    return new ScheduleWriting(this.#ground)
  }

  get mutes(): MuteWriting {
    return new MuteWriting(this.#ground)
  }

  get participants(): ParticipantWriting {
    return new ParticipantWriting(this.#ground)
  }

  get authors(): AuthorWriting {
    return new AuthorWriting(this.#ground)
  }

  get memory(): MemoryWriting {
    return new MemoryWriting(this.#ground)
  }

  get checkpoints(): CheckpointWriting {
    return new CheckpointWriting(this.#ground)
  }

  get search(): SearchWriting {
    return new SearchWriting(this.#ground)
  }

  get restorations(): RestorationWriting {
    return new RestorationWriting(this.#ground)
  }

  get transcripts(): TranscriptWriting {
    return new TranscriptWriting(this.#ground)
  }

  get keyedRequests(): KeyedRequestWriting {
    return new KeyedRequestWriting(this.#ground)
  }

  get tokens(): TokenWriting {
    return new TokenWriting(this.#ground)
  }
}
