#include "../http_errors.hpp"
#include "../paging.hpp"
#include "handlers.hpp"

namespace torchwatch::web::handlers {

Result<Reply> get_health(const Request& request, Backend& backend) {
  TW_TRY_VOID(refuse_parameters(request));
  const std::string trouble = backend.health_problem ? backend.health_problem() : "";
  if (trouble.empty()) return object_reply({{"status", "ok"}});
  return problem(503, trouble);
}

}  // namespace torchwatch::web::handlers
