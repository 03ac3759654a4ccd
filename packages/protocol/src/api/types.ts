// TypeScript types of the HTTP API, derived from its schemas.

import type { Static } from 'typebox'
import type * as schema from './schema.ts'

export type RunStatus = Static<typeof schema.RunStatusSchema>
export type RunError = Static<typeof schema.RunErrorSchema>
export type WaitingFor = Static<typeof schema.WaitingForSchema>
export type RunSummary = Static<typeof schema.RunSummarySchema>
export type Run = Static<typeof schema.RunSchema>
export type RunExplanation = Static<typeof schema.RunExplanationSchema>
export type StepStatus = Static<typeof schema.StepStatusSchema>
export type Op = Static<typeof schema.OpSchema>
export type StepRecord = Static<typeof schema.StepRecordSchema>
export type StepAttempt = Static<typeof schema.StepAttemptSchema>
export type StepDetail = Static<typeof schema.StepDetailSchema>
export type PassRecord = Static<typeof schema.PassRecordSchema>
export type RunLogLine = Static<typeof schema.RunLogLineSchema>
export type TimelineFrame = Static<typeof schema.TimelineFrameSchema>
export type App = Static<typeof schema.AppSchema>
export type Runner = Static<typeof schema.RunnerSchema>
export type WorkflowDefinition = Static<typeof schema.WorkflowSchema>
export type SendEvent = Static<typeof schema.SendEventSchema>
export type SendEventReply = Static<typeof schema.SendEventReplySchema>
export type Triggered = Static<typeof schema.TriggeredSchema>
export type DryRunReply = Static<typeof schema.DryRunReplySchema>
export type DryRunWorkflow = Static<typeof schema.DryRunWorkflowSchema>
export type EventRecord = Static<typeof schema.EventRecordSchema>
export type ErrorBody = Static<typeof schema.ErrorBodySchema>
export type RunStatusFrame = Static<typeof schema.RunStatusFrameSchema>
export type ErrorGroup = Static<typeof schema.ErrorGroupSchema>
export type RunStats = Static<typeof schema.RunStatsSchema>
export type BulkReplayRequest = Static<typeof schema.BulkReplayRequestSchema>
export type BulkReplayReply = Static<typeof schema.BulkReplayReplySchema>
export type ControlAction = Static<typeof schema.ControlActionSchema>
export type EventFrame = Static<typeof schema.EventFrameSchema>
export type WebhookEndpoint = Static<typeof schema.WebhookEndpointSchema>
export type CreateWebhookEndpoint = Static<typeof schema.CreateWebhookEndpointSchema>
export type UpdateWebhookEndpoint = Static<typeof schema.UpdateWebhookEndpointSchema>
export type WebhookEndpointStats = Static<typeof schema.WebhookEndpointStatsSchema>
export type WebhookReceiver = Static<typeof schema.WebhookReceiverSchema>
export type CreateWebhookReceiver = Static<typeof schema.CreateWebhookReceiverSchema>
export type UpdateWebhookReceiver = Static<typeof schema.UpdateWebhookReceiverSchema>
export type WebhookDelivery = Static<typeof schema.WebhookDeliverySchema>
export type DeliveryAttempt = Static<typeof schema.DeliveryAttemptSchema>
export type WebhookDeliveryDetail = Static<typeof schema.WebhookDeliveryDetailSchema>
export type Whoami = Static<typeof schema.WhoamiSchema>
export type OpenSession = Static<typeof schema.OpenSessionSchema>
export type Session = Static<typeof schema.SessionSchema>
export type ApiKey = Static<typeof schema.ApiKeySchema>
export type ScheduledEvent = Static<typeof schema.ScheduledEventSchema>
export type ScheduleEntry = Static<typeof schema.ScheduleEntrySchema>
export type CatchUp = ScheduleEntry['catchUp'] & string
export type PutSchedule = Static<typeof schema.PutScheduleSchema>
export type FireScheduleReply = Static<typeof schema.FireScheduleReplySchema>
