#include "../paging.hpp"
#include "../row_json.hpp"
#include "handlers.hpp"
#include "torchwatch/storage/request_store.hpp"

namespace torchwatch::web::handlers {

Result<Reply> get_request(const Request& request, Backend& backend) {
  TW_TRY_VOID(refuse_parameters(request));
  TW_TRY(const auto id, id_of(request));
  TW_TRY(const auto row, storage::RequestStore(backend.database).get(id));
  return object_reply({{"id", row.id},
                       {"kind", to_string(row.kind)},
                       {"state", to_string(row.state)},
                       {"body", embedded(row.body_json)},
                       {"result", embedded(row.result_json)},
                       {"created_at", time_of(row.created_at)}});
}

}  // namespace torchwatch::web::handlers
