// The names of the schemas in the OpenAPI document and in `docs/http-api.md`. Schemas without a name are written
// inline.

import type { TSchema } from 'typebox'
import * as api from '../api/schema.ts'
import { AttributesSchema } from '../wire/attributes-schema.ts'
import * as wire from '../wire/schema.ts'

export const NAMED_SCHEMAS: Readonly<Record<string, TSchema>> = {
  RunStatus: api.RunStatusSchema,
  Run: api.RunSchema,
  RunSummary: api.RunSummarySchema,
  RunError: api.RunErrorSchema,
  WaitingFor: api.WaitingForSchema,
  Attributes: AttributesSchema,
  RunExplanation: api.RunExplanationSchema,
  StepRecord: api.StepRecordSchema,
  StepDetail: api.StepDetailSchema,
  StepAttempt: api.StepAttemptSchema,
  StepStatus: api.StepStatusSchema,
  StepError: wire.StepErrorSchema,
  PassRecord: api.PassRecordSchema,
  Tree: api.TreeSchema,
  TreeNode: api.TreeNodeSchema,
  RunLogLine: api.RunLogLineSchema,
  TimelineFrame: api.TimelineFrameSchema,
  RunStatusFrame: api.RunStatusFrameSchema,
  LimitStatus: api.LimitStatusSchema,
  StreamFrame: api.StreamFrameSchema,
  DeliveryFrame: api.DeliveryFrameSchema,
  RunStats: api.RunStatsSchema,
  ErrorGroup: api.ErrorGroupSchema,
  RunSeriesPoint: api.RunSeriesPointSchema,
  WorkflowStats: api.WorkflowStatsSchema,
  StepStats: api.StepStatsSchema,
  RunFacets: api.RunFacetsSchema,
  ReplayRequest: api.ReplayRequestSchema,
  RetryFromStepRequest: api.RetryFromStepRequestSchema,
  BulkReplayRequest: api.BulkReplayRequestSchema,
  BulkReplayReply: api.BulkReplayReplySchema,
  BulkRequest: api.BulkRequestSchema,
  BulkFilter: api.BulkFilterSchema,
  BulkStarted: api.BulkStartedSchema,
  BulkPreview: api.BulkPreviewSchema,
  Bulk: api.BulkSchema,
  BulkDetail: api.BulkDetailSchema,
  BulkResult: api.BulkResultSchema,
  ControlAction: api.ControlActionSchema,
  SendEvent: api.SendEventSchema,
  SendEventReply: api.SendEventReplySchema,
  Triggered: api.TriggeredSchema,
  DryRunReply: api.DryRunReplySchema,
  DryRunWorkflow: api.DryRunWorkflowSchema,
  EventRecord: api.EventRecordSchema,
  EventName: api.EventNameSchema,
  EventFrame: api.EventFrameSchema,
  ScheduledEvent: api.ScheduledEventSchema,
  ScheduleEntry: api.ScheduleEntrySchema,
  PutSchedule: api.PutScheduleSchema,
  FireScheduleReply: api.FireScheduleReplySchema,
  RegisterRequest: wire.RegisterRequestSchema,
  WorkflowRegistration: wire.WorkflowRegistrationSchema,
  RetryPolicy: wire.RetryPolicySchema,
  Trigger: wire.TriggerSchema,
  RegisterReply: wire.RegisterReplySchema,
  App: api.AppSchema,
  Runner: api.RunnerSchema,
  Workflow: api.WorkflowSchema,
  Schedule: api.ScheduleSchema,
  WebhookDelivery: api.WebhookDeliverySchema,
  WebhookDeliveryDetail: api.WebhookDeliveryDetailSchema,
  DeliveryAttempt: api.DeliveryAttemptSchema,
  WebhookEndpoint: api.WebhookEndpointSchema,
  WebhookEndpointWithSecret: api.WebhookEndpointWithSecretSchema,
  WebhookEndpointStats: api.WebhookEndpointStatsSchema,
  CreateWebhookEndpoint: api.CreateWebhookEndpointSchema,
  UpdateWebhookEndpoint: api.UpdateWebhookEndpointSchema,
  WebhookReceiver: api.WebhookReceiverSchema,
  WebhookReceiverWithSecret: api.WebhookReceiverWithSecretSchema,
  CreateWebhookReceiver: api.CreateWebhookReceiverSchema,
  UpdateWebhookReceiver: api.UpdateWebhookReceiverSchema,
  ReceivedWebhook: api.ReceivedWebhookSchema,
  Whoami: api.WhoamiSchema,
  OpenSession: api.OpenSessionSchema,
  Session: api.SessionSchema,
  MakeSessionCode: api.MakeSessionCodeSchema,
  SessionCode: api.SessionCodeSchema,
  ApiKey: api.ApiKeySchema,
  ApiKeyWithSecret: api.ApiKeyWithSecretSchema,
  CreateApiKey: api.CreateApiKeySchema,
  Health: api.HealthSchema,
  Readiness: api.ReadinessSchema,
  ErrorBody: api.ErrorBodySchema,
}

/** A schema as plain JSON. */
export type JsonSchema = { readonly [keyword: string]: unknown }

// typebox copies a schema when it makes it optional, so schemas are compared by content, not by identity.
const NAME_OF = new Map(Object.entries(NAMED_SCHEMAS).map(([name, schema]) => [JSON.stringify(schema), name]))

/** The name of a schema, if it has one. */
export function schemaName(schema: JsonSchema | TSchema): string | undefined {
  return NAME_OF.get(JSON.stringify(schema))
}
