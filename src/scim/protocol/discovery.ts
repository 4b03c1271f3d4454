import {
  type Attribute,
  CORE_ATTRIBUTES,
  DERIVED_ATTRIBUTES,
  ENTERPRISE_ATTRIBUTES,
  ENTERPRISE_SCHEMA,
  GROUP_ATTRIBUTES,
  GROUP_SCHEMA,
  USER_SCHEMA,
} from "./attributes.ts"
import { MAX_BULK_BYTES, MAX_BULK_OPERATIONS } from "./bulk.ts"
import { MAX_PAGE } from "./protocol.ts"

/** The discovery documents of the service (RFC 7643, sections 5 to 7). */

const CORE = "urn:ietf:params:scim:schemas:core:2.0"

export function serviceProviderConfig(base: string) {
  return {
    schemas: [`${CORE}:ServiceProviderConfig`],
    patch: { supported: true },
    bulk: { supported: true, maxOperations: MAX_BULK_OPERATIONS, maxPayloadSize: MAX_BULK_BYTES },
    filter: { supported: true, maxResults: MAX_PAGE },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: "oauthbearertoken",
        name: "Bearer token",
        description: "The token that was returned when the directory was connected.",
        specUri: "https://www.rfc-editor.org/info/rfc6750",
        primary: true,
      },
    ],
    meta: { resourceType: "ServiceProviderConfig", location: `${base}/ServiceProviderConfig` },
  }
}

export function resourceTypes(base: string) {
  const type = (name: string, schema: string, description: string, extensions: object[]) => ({
    schemas: [`${CORE}:ResourceType`],
    id: name,
    name,
    endpoint: `/${name}s`,
    description,
    schema,
    schemaExtensions: extensions,
    meta: { resourceType: "ResourceType", location: `${base}/ResourceTypes/${name}` },
  })
  return [
    type("User", USER_SCHEMA, "A person of the organization", [{ schema: ENTERPRISE_SCHEMA, required: false }]),
    type("Group", GROUP_SCHEMA, "People who get the same memberships", []),
  ]
}

export function schemas(base: string) {
  const schema = (id: string, name: string, attributes: readonly Attribute[]) => ({
    schemas: [`${CORE}:Schema`],
    id,
    name,
    attributes: attributes.map(describe),
    meta: { resourceType: "Schema", location: `${base}/Schemas/${id}` },
  })
  return [
    schema(USER_SCHEMA, "User", [...CORE_ATTRIBUTES, ...DERIVED_ATTRIBUTES]),
    schema(ENTERPRISE_SCHEMA, "EnterpriseUser", ENTERPRISE_ATTRIBUTES),
    schema(GROUP_SCHEMA, "Group", GROUP_ATTRIBUTES),
  ]
}

function describe(attribute: Attribute): object {
  return {
    name: attribute.name,
    type: attribute.type,
    multiValued: attribute.multiValued ?? false,
    required: attribute.required ?? false,
    caseExact: attribute.caseExact ?? false,
    mutability: attribute.mutability ?? "readWrite",
    returned: "default",
    uniqueness: attribute.unique ? "server" : "none",
    ...(attribute.canonicalValues && { canonicalValues: attribute.canonicalValues }),
    ...(attribute.type === "reference" && { referenceTypes: ["User", "Group"] }),
    ...(attribute.parts && { subAttributes: attribute.parts.map(describe) }),
  }
}
